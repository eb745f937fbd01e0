import { Writable } from 'node:stream';
import { Client, Connection } from '@temporalio/client';
import type { ServerResponse } from 'node:http';
import type { RunningWorker } from '../../../../activities/worker/start-worker.js';
import { closeModelConnections } from '../../../../api/agent/providers/model-fetch.js';
import { createLogger } from '../../../../api/platform/telemetry/log.js';
import { metrics } from '../../../../api/platform/telemetry/metrics.js';
import { turnWorkflowId } from '../../../../workflows/contracts/turn-contract.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import type { Answer, TestApp } from '../../../support/app.js';
import { type ModelServer, startModelServer } from '../../../support/model-server.js';
import { queuePrefix, runWorker, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';
import { allowModel, startWithModel } from './converse.js';

// Turns of a model as a workflow: with retries, a stop, and workers that die.

const KEY = 'canary-key-93b1';
const TITLE = 'canary-title-51d0';
const MESSAGE = 'canary-message-a2c4';
const ANSWER = 'canary-answer-77e9';
const NEEDLES = [KEY, TITLE, MESSAGE, ANSWER, 'canary-refusal', 'You are the assistant'];

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

let model: ModelServer;
let app: TestApp;
let worker: RunningWorker | undefined;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let taskId: string;

beforeAll(async () => {
  model = await startModelServer();
  app = await startWithModel(model, 'anthropic', { TASK_QUEUE_PREFIX: queuePrefix(), LOG_LEVEL: 'trace' });
  Object.assign(app.services, { log: createLogger(app.services.config, 'worker', sink) });
  worker = await runWorker(app);
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await worker?.stop();
  await closeModelConnections();
  await connection.close();
  model.close();
  await app.close();
});
beforeEach(async () => {
  model.requests.length = 0;
  model.aborted = 0;
  team = await buildTeam(app);
  await allowModel(app, team);
  taskId = (await buildTask(app, team, await buildProject(app, team), { title: TITLE })).task_id;
});

const db = () => app.services.db;
/** A new session with the task; `answer` is that of the chat route. */
async function talk(message = MESSAGE) {
  const client = app.as(team.member);
  const { session_id } = (await client.post('/api/ai-workspace/sessions', {})).body as { session_id: string };
  await client.post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: taskId });
  const answer = client.post('/api/ai-workspace/chat', { session_id, message });
  const turn = await until(() => db()('agent_turns').where({ session_id }).first<{ message_id: string } | undefined>());
  return { session_id, messageId: turn.message_id, answer };
}
const findTurn = (messageId: string) => db()('agent_turns').where({ message_id: messageId }).first();
const getTurnHandle = (messageId: string) => temporal.workflow.getHandle(turnWorkflowId(messageId));
const close = (answer: Promise<Answer>) => answer.then(({ status, body }) => ({ status, body }));

it('reads, proposes and answers, and leaves no word in a history, a log line or a metric', async () => {
  model.script(
    { text: ANSWER, calls: [{ name: 'read_item', input: { item: 'T1' } }] },
    { text: ANSWER, calls: [{ name: 'task_comment', input: { task_id: 'T1', content: ANSWER } }] },
  );
  const { messageId, answer } = await talk();
  const { status, body } = await close(answer);
  expect(status).toBe(200);
  expect(body).toMatchObject({ response: ANSWER, requires_confirmation: true });
  expect(body.action_plan.actions).toHaveLength(1);
  expect(await getTurnHandle(messageId).result()).toEqual({ state: 'answered', changes: 1 });

  model.answer(({ raw }, response) => {
    response.writeHead(500).end(`canary-refusal ${raw} ${KEY}`);
    return undefined;
  });
  const failed = await talk();
  expect((await close(failed.answer)).body.response).toMatch(/^The model is busy/);
  const texts: string[] = [];
  for (const id of [messageId, failed.messageId]) {
    await getTurnHandle(id).result();
    texts.push(JSON.stringify([await getTurnHandle(id).fetchHistory(), await getTurnHandle(id).describe()]));
  }
  const history = texts.map((text) =>
    text.replace(/"data":"([A-Za-z0-9+/=]*)"/g, (_whole, data: string) => Buffer.from(data, 'base64').toString()),
  );
  expect(history[0]).toContain('modelStep');
  expect(history[1]).toContain('model_busy');
  const log = lines.join('');
  expect(log).toContain('turn ended');
  const measured = await metrics.metrics();
  expect(measured).toMatch(/agent_model_errors_total\{code="model_busy"\} [1-9]/);
  expect(measured).toMatch(/agent_tokens_total\{kind="input"\} [1-9]/);
  for (const text of [...texts, ...history, log, measured]) for (const needle of NEEDLES) expect(text).not.toContain(needle);
  // The sweep itself sees: the words are where they belong.
  const stored = await db()('agent_messages').pluck<string[]>('content');
  const { rows } = await db().raw<{ rows: { name: string }[] }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of rows) {
    const { rows: found } = await db().raw<{ rows: unknown[] }>(`select from "${name}" t where position(? in t::text) > 0`, [
      KEY,
    ]);
    expect([name, found.length]).toEqual([name, 0]);
  }
  expect(stored).toEqual(expect.arrayContaining([MESSAGE, ANSWER]));
});

it('waits as long as a busy provider asks, and tries again', async () => {
  model.answer((_request, response) => {
    if (model.requests.length > 1) return { text: 'Now' };
    response.writeHead(429, { 'retry-after': '1' }).end('{}');
    return undefined;
  });
  const { messageId, answer } = await talk();
  expect((await close(answer)).body.response).toBe('Now');
  expect(await findTurn(messageId)).toMatchObject({ state: 'answered', calls: 2, input_tokens: 100, output_tokens: 20 });
});

it.each([
  ['429 for 90 seconds', 429, { 'retry-after': '90' }, 'model_busy', /Try again in 90 seconds/],
  ['401', 401, {}, 'model_refused', /refused the request/],
  ['HTML', 200, { 'content-type': 'text/html' }, 'model_garbled', /could not be read/],
])('gives up at once on %s', async (_what, status, headers, code, words) => {
  model.answer((_request, response) => {
    response.writeHead(status, headers).end('<p>no</p>');
    return undefined;
  });
  const { messageId, answer } = await talk();
  const { status: answered, body } = await close(answer);
  expect(answered).toBe(200);
  expect(body.response).toMatch(words);
  expect(model.requests).toHaveLength(1);
  expect(await findTurn(messageId)).toMatchObject({ state: 'failed', error_code: code });
});

it('stops a call when the person does', async () => {
  model.answer(() => undefined);
  const { session_id, messageId, answer } = await talk();
  await until(async () => model.requests.length === 1);
  const stopped = await app.as(team.member).post(`/api/ai-workspace/sessions/${session_id}/stop`, {});
  expect(stopped.status).toBe(200);
  expect((await close(answer)).status).toBe(200);
  await until(async () => model.aborted === 1);
  expect(await findTurn(messageId)).toMatchObject({ state: 'cancelled' });
  await getTurnHandle(messageId).result();
  expect(await db()('agent_steps').where({ message_id: messageId })).toEqual([]);
});

it('answers messages of a session in order', async () => {
  const held: ServerResponse[] = [];
  model.answer((request, response) => {
    if (request.raw.includes('second')) return { text: 'second answer' };
    held.push(response);
    return undefined;
  });
  const { session_id, answer } = await talk('first');
  await until(async () => held.length === 1);
  const next = app.as(team.member).post('/api/ai-workspace/chat', { session_id, message: 'second' });
  await until(async () => (await db()('agent_turns').where({ session_id, state: 'waiting' })).length === 1);
  expect(model.requests).toHaveLength(1);
  held[0]?.writeHead(401).end('{}');
  expect((await close(answer)).body.response).toMatch(/refused/);
  expect((await close(next)).body.response).toBe('second answer');
});

describe('a worker that dies', () => {
  let child: Awaited<ReturnType<typeof startWorkerProcess>>;
  const start = () =>
    startWorkerProcess(app, {
      AI_PROVIDER: 'anthropic',
      AI_MODEL: 'stand-in',
      AI_BASE_URL: model.url,
      AI_API_KEY: KEY,
      LOG_LEVEL: 'error',
    });
  const replace = async () => {
    child.kill('SIGKILL');
    child = await start();
  };
  beforeAll(async () => {
    await worker?.stop();
    worker = undefined;
    child = await start();
  });
  afterAll(() => void child.kill('SIGKILL'));

  const plan = { text: ANSWER, calls: [{ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }] };
  async function isHeldUp(): Promise<boolean> {
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    return (await db().raw<{ rowCount: number }>(waiting)).rowCount > 0;
  }
  async function expectOneAnswer(messageId: string, calls: number): Promise<void> {
    const done = await until(async () => {
      const turn = await findTurn(messageId);
      return turn.finished_at && turn;
    }, 120_000);
    expect(done).toMatchObject({ state: 'answered', calls });
    expect(await db()('agent_messages').where({ answers: messageId })).toHaveLength(1);
    expect(await db()('agent_plans').where({ session_id: done.session_id })).toHaveLength(1);
    expect(await db()('agent_steps').where({ message_id: messageId })).toHaveLength(1);
    await getTurnHandle(messageId).result();
  }

  it('in the call: the next one asks again, and counts it', async () => {
    model.answer(() => (model.requests.length > 1 ? plan : undefined));
    const { messageId, answer } = await talk();
    await until(async () => model.requests.length === 1);
    await replace();
    await expectOneAnswer(messageId, 2);
    await answer;
    expect(model.requests).toHaveLength(2);
    // What the first call may have cost stays reserved.
    expect((await findTurn(messageId)).output_tokens).toBe(20 + 2_000);
  });

  it('before the step’s row: one paid call is lost', async () => {
    model.script(plan);
    const holder = await db().transaction();
    await holder.raw('lock table agent_steps in share mode');
    const { messageId, answer } = await talk();
    await until(async () => model.requests.length === 1);
    await until(isHeldUp);
    await replace();
    await holder.commit();
    await answer;
    const turn = await until(async () => {
      const row = await findTurn(messageId);
      return row.finished_at && row;
    }, 120_000);
    // The statement of the dead worker may still have been carried out when the lock was released.
    expect(turn.state).toBe('answered');
    expect(turn.calls).toBe(model.requests.length);
    expect(model.requests.length).toBeLessThanOrEqual(2);
    await expectOneAnswer(messageId, turn.calls);
  });

  it('in the end of the turn: the answer and its plan, once', async () => {
    const holder = await db().transaction();
    // From the call on no answer can be written; the message is.
    model.answer(async () => {
      await holder.raw('lock table agent_messages in share mode');
      return plan;
    });
    const { messageId, answer } = await talk();
    await until(async () => (await db()('agent_steps').where({ message_id: messageId })).length === 1);
    await until(isHeldUp);
    await replace();
    await holder.commit();
    await answer;
    await expectOneAnswer(messageId, 1);
  });
});
