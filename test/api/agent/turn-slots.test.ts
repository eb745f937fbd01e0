/** What one team may take of the model's slots, and a turn that cannot be started. Real worker, real Temporal. */
import { Client, Connection } from '@temporalio/client';
import type { ServerResponse } from 'node:http';
import { agentTurns } from '../../../activities/agent-turns.js';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { closeModelConnections } from '../../../api/agent/providers/model-fetch.js';
import { beginTurn } from '../../../api/agent/providers/steps/begin-turn.js';
import { dispatchOutbox } from '../../../api/platform/outbox/dispatch-outbox.js';
import { NO_OWNER } from '../../../api/platform/outbox/match-events.sql.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import type { TestApp } from '../../support/app.js';
import { type ModelServer, startModelServer } from '../../support/model-server.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';
import { allowModel, buildSession, postMessage, startWithModel } from './providers/converse.js';

const PLACES = 2;

let model: ModelServer;
let app: TestApp;
let worker: RunningWorker | undefined;
let team: TestTeam;
let taskId: string;
/** Calls that have no answer yet. */
let held: { of: string; response: ServerResponse }[];

beforeAll(async () => {
  model = await startModelServer();
  app = await startWithModel(model, 'anthropic', { TASK_QUEUE_PREFIX: queuePrefix(), AI_TURNS_PER_TEAM: String(PLACES) });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker?.stop();
  await closeModelConnections();
  model.close();
  await app.close();
});
beforeEach(async () => {
  held = [];
  model.requests.length = 0;
  model.answer(({ raw }, response) => {
    if (!raw.includes('slowly')) return { text: 'At once' };
    held.push({ of: /slowly \d/.exec(raw)?.[0] ?? '', response });
    return undefined;
  });
  ({ team, taskId } = await buildWorld());
});

const db = () => app.services.db;
async function buildWorld(): Promise<{ team: TestTeam; taskId: string }> {
  const built = await buildTeam(app);
  await allowModel(app, built);
  const { task_id } = await buildTask(app, built, await buildProject(app, built), { title: 'Login 500' });
  return { team: built, taskId: task_id };
}
const openFuzzSession = (person: Person, id = taskId) => buildSession(app, person, [['task', id]]);
async function ask(person: Person, message: string, id = taskId) {
  const session = await openFuzzSession(person, id);
  const answer = app.as(person).post('/api/ai-workspace/chat', { session_id: session.session_id, message });
  return { ...session, answer };
}
const inState = (state: string) => db()('agent_turns').where({ team_id: team.team_id, state });
const refuse = (call: (typeof held)[number] | undefined) => call?.response.writeHead(401).end('{}');

it('a team that fills its slots waits, another team is answered, and each end lets the next one in', async () => {
  const asked = [];
  for (let nth = 0; nth < 4; nth += 1) {
    asked.push(await ask(team.member, `slowly ${nth}`));
    await until(async () => (await inState('running')).length + (await inState('waiting')).length === nth + 1);
  }
  await until(async () => held.length === PLACES);
  expect([(await inState('running')).length, (await inState('waiting')).length]).toEqual([PLACES, 2]);

  const other = await buildWorld();
  const { answer } = await ask(other.team.member, 'Quickly', other.taskId);
  expect((await answer).body.response).toBe('At once');
  expect(held).toHaveLength(PLACES);

  // An answer, and then a stop: both give the place to the oldest that waits.
  refuse(held[0]);
  await until(async () => held.length === PLACES + 1);
  expect(held.map(({ of }) => of).toSorted()).toEqual(['slowly 0', 'slowly 1', 'slowly 2']);
  const second = asked.find((_asked, nth) => held[1]?.of === `slowly ${nth}`);
  await app.as(team.member).post(`/api/ai-workspace/sessions/${second?.session_id}/stop`, {});
  await until(async () => held.length === PLACES + 2);
  expect(held.at(-1)?.of).toBe('slowly 3');
  for (const call of held) if (!call.response.destroyed) refuse(call);
  for (const { answer: end } of asked) expect((await end).status).toBe(200);
});

it('starts no more concurrent turns than there are slots', async () => {
  const turns = [];
  for (let nth = 0; nth < 8; nth += 1)
    turns.push(await postMessage(app, await openFuzzSession(team.member), `slowly ${nth}`, team.team_id));
  const byRules = () => Promise.reject(new Error('a model is allowed'));
  const begun = await Promise.all(turns.map((turn) => beginTurn(app.services, turn, byRules)));
  expect(begun.map(({ state }) => state).toSorted()).toEqual([
    ...Array.from({ length: PLACES }, () => 'running'),
    ...Array.from({ length: 8 - PLACES }, () => 'waiting'),
  ]);
  // Who has a place keeps it when the answer to this was lost.
  const again = await Promise.all(turns.map((turn) => beginTurn(app.services, turn, byRules)));
  expect(again).toEqual(begun);
  await db()('agent_turns').where({ team_id: team.team_id }).delete();
});

it('a turn whose start is refused ten times ends as failed, and the next message of its session goes on', async () => {
  await worker?.stop();
  worker = undefined;
  const session = await openFuzzSession(team.member);
  const turns = [await postMessage(app, session, 'One', team.team_id), await postMessage(app, session, 'Two', team.team_id)];
  const [first, second] = turns.map(({ messageId }) => messageId);
  const start = { kind: 'turn.start', subject: first, payload: { message_id: first, incarnation: 1 }, correlation_id: first };
  await db()('outbox').insert(start);
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  // Temporal refuses such a long name of a queue.
  const options = { taskQueuePrefix: 'x'.repeat(2_000), searchable: false, eager: false, giveUpHours: 24 };
  const dispatcher = agentTurns.connect(new Client({ connection }), options);
  const row = () => db()('outbox').where({ kind: 'turn.start', subject: first }).first();
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    expect(await row()).toMatchObject({ failures: attempt - 1, parked_at: null });
    await db()('outbox').where({ kind: 'turn.start' }).update({ next_attempt_at: db().fn.now() });
    await dispatchOutbox(app.services, [dispatcher], { after: NO_OWNER });
  }
  await connection.close();
  expect(await row()).toBeUndefined();
  expect(await db()('agent_turns').where({ message_id: first }).first()).toMatchObject({
    state: 'failed',
    error_code: 'internal',
  });
  const read = await app.as(team.member).get(`/api/ai-workspace/sessions/${session.session_id}`);
  expect(read.body.messages.map(({ content }: { content: string }) => content)).toContainEqual(
    expect.stringMatching(/^Something went wrong on our side/),
  );
  expect(await db()('outbox').where({ kind: 'turn.wake', subject: second })).toHaveLength(1);
  expect((await beginTurn(app.services, turns[1] as (typeof turns)[number], () => Promise.reject(new Error('no')))).state).toBe(
    'running',
  );
});
