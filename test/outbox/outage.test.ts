/**
 * The outbox with a whole worker: Temporal down, disconnected or unresponsive; lost notifications; a killed worker. All work ends,
 * once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { type RunningWorker, startWorker } from '../../activities/worker/start-worker.js';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import { scheduleId } from '../../workflows/contracts/run-contract.js';
import { startTcpProxy, type TcpProxy } from '../resilience/tcp-proxy.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { startOwnTemporal, type TemporalServer } from '../support/temporal-server.js';
import { queuePrefix, quietRuntime, runWorker, until } from '../support/worker.js';
import { killConnections, makeDue } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let proxy: TcpProxy;
let stopWorker: () => Promise<unknown> = () => Promise.resolve();

beforeEach(async () => {
  quietRuntime();
  const [host = '', port] = (process.env['ASSENT_TEST_TEMPORAL_ADDRESS'] ?? '').split(':');
  proxy = await startTcpProxy(host, Number(port), false);
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}`,
    FORGE_WEBHOOK_SECRET: 'outage',
  });
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterEach(async () => {
  await proxy.restore().catch(() => undefined);
  await stopWorker();
  await proxy.close();
  await app.close();
});

const db = () => app.services.db;
/** The worker in this process, at once: nothing waits for Temporal. */
function startHere(): RunningWorker {
  const worker = startWorker(app.services.config, app.services.log, () => undefined);
  stopWorker = () => worker.stop();
  return worker;
}
const statuses = (automation: { automation_id: string }) => db()('automation_runs').where(automation).pluck<string[]>('status');
const commentsOn = (task: { task_id: string }) =>
  db()('comments').where({ task_id: task.task_id }).orderBy('created_at').pluck<string[]>('content');
const all = (automation: { automation_id: string }, status: string, count: number, ms?: number) =>
  until(async () => {
    const found = await statuses(automation);
    return found.length === count && found.every((each) => each === status);
  }, ms);

/** A signed delivery of an issue that was opened; resolves when the relay has applied it. */
async function deliver(): Promise<void> {
  const delivery = uuidv7();
  const body = JSON.stringify({
    action: 'opened',
    issue: { number: 1, title: 'Lost contact' },
    repository: { full_name: 'acme/rocket' },
  });
  const headers = {
    'x-forge-event': 'issues',
    'x-forge-delivery': delivery,
    'x-hub-signature-256': sign(Buffer.from(body), 'outage'),
  };
  expect((await app.as().post('/api/forge/webhooks', undefined, { raw: body, headers })).status).toBe(200);
  await until(() => db()('forge_deliveries').where({ delivery_id: delivery }).whereNotNull('outcome').first());
}

/** A cron automation whose Temporal was killed, with its data kept, while the other tests of this file run: its times pass meanwhile. */
const dark = { since: 0 } as { since: number; server: TemporalServer; app: TestApp };
const toMinute = (ms: number): number => Math.floor(ms / 60_000);

beforeAll(async () => {
  dark.server = await startOwnTemporal();
  dark.app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), TEMPORAL_ADDRESS: dark.server.address });
  const worker = await runWorker(dark.app);
  const { manager, team_id } = await buildTeam(dark.app);
  const minutely = { name: 'Minutely', trigger_type: 'schedule', schedule_cron: '* * * * *', team_id };
  const { automation_id } = (await dark.app.as(manager).post('/api/automations', minutely)).body;
  await until(async () => (await dark.app.services.db('outbox')).length === 0);
  // The server looks out for times from the schedule's first step on, after which it can say when the next ones are.
  const connection = await Connection.connect({ address: dark.server.address });
  const handle = new Client({ connection }).schedule.getHandle(
    scheduleId(dark.app.services.config.TASK_QUEUE_PREFIX, automation_id),
  );
  await until(async () => (await handle.describe()).info.nextActionTimes.length > 0);
  await connection.close();
  await worker.stop();
  dark.since = Date.now();
  await dark.server.kill();
}, 180_000);
afterAll(async () => {
  await dark.server.stop();
  await dark.app.close();
});

it('Temporal away from the start: everything but the runs goes on, and all of them end after it came', async () => {
  const plain = await buildAutomation(app, team, { actions: [comment('done')] });
  const gated = await buildAutomation(app, team, { actions: [gate(), comment('tail')] });
  startHere();
  const tasks = [];
  for (let n = 0; n < 5; n += 1) tasks.push(await buildTask(app, team, project));
  await all(plain, 'queued', 5);
  await deliver();
  await proxy.restore();
  await all(plain, 'succeeded', 5, 60_000);
  await all(gated, 'paused', 5);
  // Decisions, while it is away again.
  await proxy.cut();
  const approvals = await db()('automation_runs').where(gated).pluck<string[]>('run_id');
  for (const run_id of approvals) {
    const answer = await app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`);
    expect(answer).toMatchObject({ status: 200, body: { decision: 'approved', status: 'running' } });
  }
  await deliver();
  await proxy.restore();
  await all(gated, 'succeeded', 5, 60_000);
  for (const task of tasks) expect((await commentsOn(task)).sort()).toEqual(['done', 'tail']);
}, 180_000);

it('Temporal mute under way: deliveries are applied and events matched all the same', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('done')] });
  await proxy.restore();
  const worker = startHere();
  await buildTask(app, team, project);
  await all(automation, 'succeeded', 1);
  expect(worker.isConnected()).toBe(true);
  proxy.swallow(true);
  await buildTask(app, team, project);
  await until(async () => (await statuses(automation)).length === 2);
  // The start of that run hangs in the network now. What needs no Temporal must not wait for it.
  await until(() => db()('outbox').where({ kind: 'run.start' }).where('attempts', '>', 0).first());
  await deliver();
  await buildTask(app, team, project);
  await until(async () => (await statuses(automation)).length === 3);
  proxy.swallow(false);
  await proxy.cut();
  await proxy.restore();
  await all(automation, 'succeeded', 3, 60_000);
}, 180_000);

it('reports a Temporal that stops answering, dispatches nothing meanwhile, and starts what waited when it answers again', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('done')] });
  await proxy.restore();
  const worker = startHere();
  await buildTask(app, team, project);
  await all(automation, 'succeeded', 1);
  const isReported = async (temporal: boolean) =>
    (await db()('heartbeats').pluck<{ temporal: boolean }[]>('details')).every((details) => details.temporal === temporal);
  expect(await isReported(true)).toBe(true);
  proxy.swallow(true);
  await until(() => isReported(false));
  expect(worker.isConnected()).toBe(false);
  await buildTask(app, team, project);
  await until(async () => (await statuses(automation)).length === 2);
  // A row that was leased before the outage was noticed.
  await db()('outbox')
    .where({ kind: 'run.start' })
    .update({ attempts: 6, next_attempt_at: db().raw("now() + interval '1 hour'") });
  proxy.swallow(false);
  await proxy.cut();
  await proxy.restore();
  await all(automation, 'succeeded', 2);
  await until(() => isReported(true));
  // Stopping a worker is no outage of Temporal.
  await worker.stop();
  stopWorker = () => Promise.resolve();
  expect(await isReported(true)).toBe(true);
}, 180_000);

it('polls within seconds after a lost connection, and listens again', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('done')] });
  await proxy.restore();
  startHere();
  await buildTask(app, team, project);
  await all(automation, 'succeeded', 1);
  for (let count = 2; count < 5; count += 1) {
    await killConnections(app, 'assent-outbox-listener');
    await killConnections(app, 'assent-relay');
    await buildTask(app, team, project);
    await all(automation, 'succeeded', count);
  }
  await until(async () => {
    const sql =
      "select from pg_stat_activity where application_name = 'assent-outbox-listener' and query like 'listen%' and datname = current_database()";
    return (await db().raw<{ rowCount: number }>(sql)).rowCount === 1;
  });
}, 180_000);

it('a worker is ready once it polls, also when Temporal and the database went away just then', async () => {
  await proxy.restore();
  await db().raw('alter table heartbeats rename to heartbeats_away');
  let ready = 0;
  const worker = startWorker(app.services.config, app.services.log, () => {
    ready += 1;
  });
  stopWorker = () => worker.stop();
  while (!worker.isConnected()) await new Promise((resolve) => setImmediate(resolve));
  await proxy.cut();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(ready).toBe(0);
  await proxy.restore();
  await db().raw('alter table heartbeats_away rename to heartbeats');
  await until(async () => ready > 0);
}, 180_000);

describe('a worker that is killed', () => {
  let child: ChildProcess | undefined;
  const spawnWorker = async (): Promise<ChildProcess> => {
    const { config } = app.services;
    const env = {
      ...process.env,
      NODE_ENV: 'test',
      DATABASE_URL: app.database.url,
      DATA_DIR: config.DATA_DIR,
      LOG_LEVEL: 'silent',
      TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
      TASK_QUEUE_PREFIX: config.TASK_QUEUE_PREFIX,
      WORKFLOW_BUNDLE: config.WORKFLOW_BUNDLE,
      WORKER_METRICS_PORT: '0',
    };
    const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
    const started = spawn(process.execPath, [join(process.cwd(), 'dist/activities/worker.js')], { env, stdio: [...stdio] });
    child = started;
    stopWorker = () => kill(started);
    await once(started, 'message');
    return started;
  };
  const kill = async (target: ChildProcess): Promise<void> => {
    if (target.exitCode !== null || target.signalCode !== null) return;
    const exited = once(target, 'exit');
    target.kill('SIGKILL');
    await exited;
  };

  it('in the middle of many runs, before and behind the gate: each action happens once', async () => {
    await proxy.restore();
    const automation = await buildAutomation(app, team, {
      actions: [comment('one'), comment('two'), gate(), comment('three'), comment('four')],
    });
    await spawnWorker();
    const tasks = await Promise.all(Array.from({ length: 12 }, () => buildTask(app, team, project)));
    const reach = (effects: number) => until(async () => (await db()('effects')).length >= effects);
    await reach(8);
    await kill(child as ChildProcess);
    await makeDue(app);
    await spawnWorker();
    await all(automation, 'paused', 12, 90_000);
    const runs = await db()('automation_runs').where(automation).pluck<string[]>('run_id');
    await Promise.all(runs.map((run_id) => app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`)));
    await reach(30);
    await kill(child as ChildProcess);
    await makeDue(app);
    await spawnWorker();
    await all(automation, 'succeeded', 12, 90_000);
    for (const task of tasks) expect(await commentsOn(task)).toEqual(['one', 'two', 'three', 'four']);
  }, 300_000);
});

it('the times of a schedule that passed while Temporal was killed come when it is back, each once', async () => {
  const times = async () =>
    (await dark.app.services.db('automation_runs').pluck('event')).map(({ scheduled_for }) => scheduled_for);
  await until(async () => toMinute(Date.now()) > toMinute(dark.since), 65_000);
  const before = await times();
  await dark.server.restart();
  const worker = await runWorker(dark.app);
  stopWorker = () => worker.stop();
  const missed = Array.from({ length: toMinute(Date.now()) - toMinute(dark.since) }, (_, n) =>
    new Date((toMinute(dark.since) + 1 + n) * 60_000).toISOString(),
  );
  expect(missed.filter((time) => before.includes(time))).toEqual([]);
  await until(async () => {
    const now = await times();
    return missed.every((time) => now.includes(time));
  }, 120_000);
  await until(async () => (await dark.app.services.db('automation_runs').whereNull('finished_at')).length === 0);
  const all = await times();
  expect(new Set(all).size).toBe(all.length);
}, 300_000);
