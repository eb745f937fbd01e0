import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { closeModelConnections } from '../../api/agent/providers/model-fetch.js';
import { runWorkflowId } from '../../workflows/contracts/run-contract.js';
import { turnWorkflowId } from '../../workflows/contracts/turn-contract.js';
import { allowModel, startWithModel } from '../api/agent/providers/converse.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { readKept } from '../support/histories.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

// Automations that ask a model, as workflows: a run that waits for a turn, and workers that die between the two.

const KEY = 'canary-key-93b1';
const TITLE = 'canary-title-51d0';
const INSTRUCTION = 'canary-instruction-5e0d';
const ANSWER = 'canary-answer-77e9';
const NEEDLES = [KEY, TITLE, INSTRUCTION, ANSWER, 'You are the assistant'];
const PLAN = { text: ANSWER, calls: [{ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }] };

let model: ModelServer;
let app: TestApp;
let worker: RunningWorker | undefined;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let taskId: string;
beforeAll(async () => {
  model = await startModelServer();
  app = await startWithModel(model, 'openai_compatible', { TASK_QUEUE_PREFIX: queuePrefix() });
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
  team = await buildTeam(app);
  await allowModel(app, team);
  taskId = (await buildTask(app, team, await buildProject(app, team), { title: TITLE })).task_id;
});

const db = () => app.services.db;
/** Starts a run that asks about the task and then comments on it. Returns its id. */
async function start(retry?: { max_attempts: number }): Promise<string> {
  const params = { instruction: INSTRUCTION, link: [{ item_type: 'task', item_id: taskId }] };
  const made = await app.as(team.manager).post('/api/automations', {
    name: 'Ask the model',
    team_id: team.team_id,
    trigger_type: 'manual',
    is_active: true,
    actions: [
      { type: 'run_agent', params, ...(retry && { retry }) },
      { type: 'add_comment', params: { task_id: taskId, content: 'Asked' } },
    ],
  });
  expect(made.status).toBe(201);
  const executed = await app.as(team.manager).post(`/api/automations/${made.body.automation_id}/execute`, {});
  expect(executed.status).toBe(202);
  return executed.body.run_id;
}
const ended = (run_id: string) =>
  until(() => db()('automation_runs').where({ run_id }).whereNotNull('finished_at').first(), 60_000);
const findTurns = (run_id: string) =>
  db()('agent_turns')
    .whereIn(
      'session_id',
      db()('agent_sessions')
        .where({ subject_key: `run:${run_id}:0` })
        .select('session_id'),
    )
    .orderBy('created_at');
const toComments = () => db()('comments').where({ task_id: taskId });

/** What Temporal keeps of a workflow, with the payloads decoded. */
async function truncateKept(workflowId: string): Promise<string> {
  const handle = temporal.workflow.getHandle(workflowId);
  await handle.result();
  return readKept(handle);
}

it('waits for the turn, stages one plan, goes on, and leaves no word in a history', async () => {
  model.script({ calls: [{ name: 'read_item', input: { item: 'T1' } }] }, PLAN);
  const runId = await start();
  expect(await ended(runId)).toMatchObject({ status: 'succeeded' });
  const [turn, ...others] = await findTurns(runId);
  expect([turn, others]).toMatchObject([{ state: 'answered', calls: 2 }, []]);
  expect(await db()('agent_plans').where({ team_id: team.team_id })).toMatchObject([{ source: 'automation', status: 'staged' }]);
  expect(await db()('tasks').where({ task_id: taskId }).first('status')).toEqual({ status: 'todo' });
  expect(await toComments()).toHaveLength(1);
  const run = await truncateKept(runWorkflowId(runId));
  const asked = await truncateKept(turnWorkflowId(turn.message_id));
  expect(run).toContain('"forAnswer":true');
  expect(asked).toContain(`run:${runId}:0`);
  for (const needle of NEEDLES) expect([run, asked].map((text) => text.includes(needle))).toEqual([false, false]);
});

it('a provider that is down is asked in a turn per attempt; then the run goes on, and is a dead letter', async () => {
  model.answer((_request, response) => void response.destroy());
  const runId = await start({ max_attempts: 2 });
  expect(await ended(runId)).toMatchObject({ status: 'failed' });
  const turns = await findTurns(runId);
  expect(turns).toMatchObject([
    { state: 'failed', calls: 3 },
    { state: 'failed', calls: 3 },
  ]);
  const [step] = await db()('run_actions').where({ run_id: runId }).orderBy('index');
  expect(step).toMatchObject({ status: 'failed', attempts: 2, error: { code: turns[1].error_code } });
  expect(step.error.message).toMatch(/^The model (is busy|cannot be reached)$/);
  expect(await toComments()).toHaveLength(1);
  const letters = await app.as(team.manager).get('/api/automations/dead-letter');
  expect(JSON.stringify(letters.body)).toContain(runId);
  for (const needle of NEEDLES) expect(JSON.stringify(step.error)).not.toContain(needle);
  const kept = await truncateKept(runWorkflowId(runId));
  for (const needle of NEEDLES) expect(kept).not.toContain(needle);
});

it('a cancelled run aborts the call of its model, and ends its turn without a plan', async () => {
  const { aborted } = model;
  // The model never answers by itself.
  model.answer(async (_request, response) => void (await once(response, 'close')));
  const runId = await start();
  await until(async () => model.requests.length === 1);
  expect((await app.as(team.manager).post(`/api/automations/runs/${runId}/cancel`)).status).toBe(200);
  await until(async () => model.aborted === aborted + 1);
  const turn = await until(async () => (await findTurns(runId)).find(({ finished_at }) => finished_at !== null));
  expect(turn).toMatchObject({ state: 'cancelled', calls: 1 });
  expect(await db()('agent_plans').where({ team_id: team.team_id })).toEqual([]);
});

describe('a worker that dies', () => {
  let child: Awaited<ReturnType<typeof startWorkerProcess>>;
  const begin = () =>
    startWorkerProcess(app, {
      AI_PROVIDER: 'openai_compatible',
      AI_MODEL: 'stand-in',
      AI_BASE_URL: model.url,
      AI_API_KEY: KEY,
      LOG_LEVEL: 'error',
    });
  beforeAll(async () => {
    await worker?.stop();
    worker = undefined;
    child = await begin();
  });
  afterAll(() => void child.kill('SIGKILL'));

  /** Plays a run whose worker dies while it waits for a lock on `table`, which is taken when the model answers. */
  async function play(table: string): Promise<string> {
    const holder = await db().transaction();
    model.answer(async () => {
      if (model.requests.length === 1) await holder.raw(`lock table ${table} in share mode`);
      return PLAN;
    });
    const runId = await start();
    await until(async () => model.requests.length === 1);
    await until(async () => (await lockWaiters(db())) > 0);
    child.kill('SIGKILL');
    // The server gives up the dead worker's statement. A start of seconds would outlast what a transaction may be idle.
    await until(async () => (await lockWaiters(db())) === 0);
    await holder.commit();
    child = await begin();
    return runId;
  }
  async function expectOnePlan(runId: string): Promise<void> {
    expect(await ended(runId)).toMatchObject({ status: 'succeeded' });
    const plans = await db()('agent_plans').where({ team_id: team.team_id });
    expect(plans).toHaveLength(1);
    const [step] = await db()('run_actions').where({ run_id: runId }).orderBy('index');
    expect(step).toMatchObject({ status: 'succeeded', attempts: 1, output: { action_id: plans[0].action_id } });
    expect(await findTurns(runId)).toMatchObject([{ state: 'answered' }]);
    expect(await toComments()).toHaveLength(1);
    expect(await db()('audit_entries').where({ team_id: team.team_id, action: 'stage' })).toHaveLength(1);
  }

  // The dry run of the plan waits for the table, before the step of the model is stored.
  it('between the answer of the model and its row: one plan, and one paid call is lost', async () => {
    const runId = await play('agent_plans');
    await expectOnePlan(runId);
    expect(model.requests).toHaveLength(2);
  }, 120_000);

  // The plan is written, and the transaction that ends the turn is not committed.
  it('while it stages: one plan, and the model is asked once', async () => {
    const runId = await play('agent_messages');
    await expectOnePlan(runId);
    expect(model.requests).toHaveLength(1);
  }, 120_000);

  it('between the staging and the end of the step: one plan, and the run goes on', async () => {
    const runId = await play('effects');
    await expectOnePlan(runId);
    expect(model.requests).toHaveLength(1);
  }, 120_000);
});
