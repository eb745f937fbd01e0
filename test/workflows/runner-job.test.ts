import { Client, Connection } from '@temporalio/client';
import { runnerJobs } from '../../activities/runner-jobs.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { runnerJobWorkflowId } from '../../workflows/contracts/runner-contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import { buildAutomation } from '../factories/automations.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { buildRunner, queueJob, type TestRunner } from '../factories/runners.js';
import { startApp, type TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { queuePrefix, runWorker, until, untilRunIs } from '../support/worker.js';

// The workflow of a job, and automations whose steps are jobs.

let app: TestApp;
let worker: RunningWorker;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let runner: TestRunner;

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), RUNNER_LEASE_SECONDS: '10', RUNNER_CANCEL_SECONDS: '10' });
  worker = await runWorker(app);
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await worker.stop();
  await connection.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  runner = await buildRunner(app, team, ['linux']);
});

const db = () => app.services.db;
const jobRow = (job_id: string) => db()('runner_jobs').where({ job_id }).first();
const getWorkflow = (job_id: string) => temporal.workflow.getHandle(runnerJobWorkflowId(job_id));
const claim = () => until(async () => (await runner.calls.post('/api/runners/claim', { wait_seconds: 20 })).body);
const report = (job_id: string, route: string, body: unknown) => runner.calls.post(`/api/runners/jobs/${job_id}/${route}`, body);
const VALUE = 'hunter2-of-the-canary';
const saveSecret = (name: string, value = VALUE, allowed_hosts: string[] = []) =>
  app.as(team.admin).post('/api/automations/secrets', { team_id: team.team_id, name, value, allowed_hosts });
const job = (params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  type: 'dispatch_runner_job',
  params: { labels: ['linux'], command: 'deploy "$TITLE"', ...params },
  ...more,
});
const note = { type: 'create_note', params: { title: 'Afterwards' } };
const automate = (actions: object[], creator = team.admin) =>
  buildAutomation(app, team, { creator, trigger_type: 'manual', actions } as never);
const execute = (automation: { automation_id: string }, event: object = {}) =>
  app.as(team.admin).post(`/api/automations/${automation.automation_id}/execute`, { event });

it('a job waits as a workflow that an operator can find and read, without a word of the job', async () => {
  const job_id = await queueJob(app, team, { command: 'echo canary', env: { A: 'canary' }, labels: ['canary'] });
  const handle = getWorkflow(job_id);
  const described = await until(() => handle.describe().catch(() => undefined));
  expect(await described.staticSummary()).toBe('Runner job');
  const attribute = (key: keyof typeof SEARCH_ATTRIBUTES) => described.typedSearchAttributes.get(SEARCH_ATTRIBUTES[key] as never);
  expect([attribute('Process'), attribute('TeamId'), attribute('EntityId')]).toEqual(['runner_job', team.team_id, job_id]);
  await app.as(team.manager).post(`/api/runners/jobs/${job_id}/cancel`);
  expect(await handle.result()).toEqual({ state: 'cancelled', exitCode: null, reason: 'cancelled' });
  expect(await readKept(handle)).not.toContain('canary');
});

it('loses a job whose runner vanishes, and restarts a workflow that was lost', async () => {
  const job_id = await queueJob(app, team);
  await until(() =>
    getWorkflow(job_id)
      .describe()
      .catch(() => undefined),
  );
  await getWorkflow(job_id).terminate('lost');
  const dispatcher = runnerJobs.connect(temporal, {
    taskQueuePrefix: app.services.config.TASK_QUEUE_PREFIX,
    searchable: true,
    eager: false,
    giveUpHours: 24,
  });
  await until(async () => (await temporal.workflow.count(`ExecutionStatus="Running" AND EntityId="${job_id}"`)).count === 0);
  expect(await dispatcher.reconcile(app.services)).toBe(1);
  expect(await claim()).toMatchObject({ job_id });
  await until(async () => (await jobRow(job_id)).status === 'lost');
  const result = async () => getWorkflow(job_id).result();
  expect(await result()).toEqual({ state: 'lost', exitCode: null, reason: 'lease_over' });
  expect((await report(job_id, 'complete', { status: 'succeeded' })).body).toMatchObject({ job_status: 'lost' });
  expect((await runner.calls.post('/api/runners/claim', { wait_seconds: 0 })).body).toBeUndefined();
});

it('a run waits for its job, whose secret is in the claim alone, and texts of events stay data', async () => {
  await saveSecret('KEY');
  const listening = await buildAutomation(app, team, {
    trigger_type: 'runner.job_finished',
    condition: 'event.job.status == "succeeded"',
    actions: [{ type: 'create_note', params: { title: 'Job {{event.job.exit_code}}' } }],
  });
  const automation = await automate([
    job({ env: { TITLE: '{{event.title}}', TOKEN: 'k:{{secret:KEY}}', COUNT: '{{event.count}}' }, timeout_minutes: 5 }),
    note,
  ]);
  const title = '$(id) {{secret:KEY}} "; rm -rf /';
  expect((await execute(automation, { title, count: 7 })).status).toBe(202);
  const given = await claim();
  expect(given).toMatchObject({
    command: 'deploy "$TITLE"',
    env: { TITLE: title, TOKEN: `k:${VALUE}`, COUNT: '7' },
    masked: ['TOKEN'],
    timeout_seconds: 300,
  });
  const { job_id } = given;
  const row = await jobRow(job_id);
  const run = await db()('automation_runs').where({ automation_id: automation.automation_id }).first();
  expect(row).toMatchObject({ run_id: run.run_id, action_index: 0, action_attempt: 1, depth: 1, created_by: team.admin.user_id });
  expect((await report(job_id, 'heartbeat', {})).status).toBe(200);
  // Split over three chunks, once in base64 at the end of a chunk.
  const log = `begin ${VALUE} ${Buffer.from(VALUE).toString('base64')} end hunt`;
  for (let offset = 0; offset < log.length; ) {
    const chunk = log.slice(offset, offset + 11);
    offset = (await report(job_id, 'logs', { chunk, offset })).body.next_offset;
  }
  await report(job_id, 'complete', { status: 'succeeded', exit_code: 0, output: `it is ${VALUE}` });
  const done = await untilRunIs(app, automation, 'succeeded', 'failed');
  expect(done.status).toBe('succeeded');
  const steps = await db()('run_actions').where({ run_id: run.run_id }).orderBy('index');
  expect(steps[0].output).toEqual({ job_id, status: 'succeeded', exit_code: 0, output: 'it is ***' });
  const text = (await app.as(team.member).get(`/api/runners/jobs/${job_id}/logs`)).body.text as string;
  expect(text).toMatch(/^begin \*\*\* \*\*\*.* end \*\*\*$/);
  await untilRunIs(app, listening, 'succeeded');
  const heard = await db()('automation_runs').where({ automation_id: listening.automation_id }).first();
  expect([heard.depth, heard.cause_user_ids]).toEqual([1, [team.admin.user_id]]);
  // Nothing of the value anywhere, and nothing that yields it is left.
  for (const table of [
    'runner_jobs',
    'runner_job_logs',
    'run_actions',
    'audit_entries',
    'outbox',
    'automation_runs',
    'activity',
  ]) {
    expect(JSON.stringify(await db()(table))).not.toContain(VALUE);
  }
  expect(await jobRow(job_id)).toMatchObject({ masked_values: null, masked_tail: null });
  for (const id of [runnerJobWorkflowId(job_id), `run:${run.run_id}`]) {
    const history = JSON.stringify(await temporal.workflow.getHandle(id).fetchHistory());
    expect([history.includes(VALUE), history.includes('rm -rf'), history.includes('deploy')]).toEqual([false, false, false]);
  }
});

it('a failed job fails its action, and is not tried again', async () => {
  const automation = await automate([job({}, { retry: { max_attempts: 3 } })]);
  await execute(automation);
  const { job_id } = await claim();
  await report(job_id, 'complete', { status: 'failed', exit_code: 3, output: 'oops' });
  const run = await untilRunIs(app, automation, 'failed', 'succeeded');
  const [step] = await db()('run_actions').where({ run_id: run.run_id });
  expect([step.status, step.attempts, step.error, step.output]).toEqual([
    'failed',
    1,
    { code: 'job_failed', message: 'The command failed with exit code 3' },
    { job_id, status: 'failed', exit_code: 3, output: 'oops' },
  ]);
  expect(await db()('runner_jobs').where({ run_id: run.run_id })).toHaveLength(1);
});

it('cancels the job of a cancelled run', async () => {
  const automation = await automate([job(), note]);
  await execute(automation);
  const { job_id } = await claim();
  const { run_id } = await jobRow(job_id);
  expect((await app.as(team.admin).post(`/api/automations/runs/${run_id}/cancel`)).status).toBe(200);
  expect((await report(job_id, 'heartbeat', {})).body).toMatchObject({ cancel: true });
  await report(job_id, 'complete', { status: 'failed', exit_code: 143 });
  expect(await jobRow(job_id)).toMatchObject({ status: 'cancelled' });
  const waiting = await automate([job({ labels: ['nobody'] })]);
  await execute(waiting);
  const queued = await until(() => db()('runner_jobs').where({ team_id: team.team_id, status: 'queued' }).first());
  await app.as(team.admin).post(`/api/automations/runs/${queued.run_id}/cancel`);
  await until(async () => (await jobRow(queued.job_id as string)).status === 'cancelled');
});

it('gives no secret that was restricted or deleted, or whose admin is none any more', async () => {
  const queued = async (automation: { automation_id: string }) => {
    await execute(automation);
    return (await until(() => db()('runner_jobs').where({ team_id: team.team_id, status: 'queued' }).first())).job_id as string;
  };
  const automation = await automate([job({ labels: ['later'], env: { TOKEN: '{{secret:KEY}}' } })]);
  const later = await buildRunner(app, team, ['later']);
  const ends: [string, () => Promise<unknown>][] = [
    ['secret_restricted', () => saveSecret('KEY', VALUE, ['example.com'])],
    ['secret_missing', () => app.as(team.admin).delete(`/api/automations/secrets/KEY?team_id=${team.team_id}&force=true`)],
    ['creator_not_authorized', () => db()('memberships').where({ user_id: team.admin.user_id }).update({ role: 'member' })],
  ];
  for (const [reason, change] of ends) {
    await saveSecret('KEY');
    const job_id = await queued(automation);
    await change();
    expect((await later.calls.post('/api/runners/claim', { wait_seconds: 0 })).status).toBe(204);
    expect(await jobRow(job_id)).toMatchObject({ status: 'failed', error_code: reason, claimed_at: null });
  }
});
