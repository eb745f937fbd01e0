/** An API process and a worker that die at each point of a job: real processes, real Temporal. No job runs twice, and none is left behind. */
import { Client as Temporal, Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { request } from 'undici';
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { emptyLedger } from '../../../../scripts/chaos/ledger.js';
import { runnerJobWorkflowId } from '../../../../workflows/contracts/runner-contract.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRunner, queueJob, type TestRunner } from '../../../factories/runners.js';
import { type ApiProcess, killApiProcesses, startApiProcess } from '../../../resilience/api-process.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Place, StandStill } from '../../../support/stand-still.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';

const CLAIMED = "old.status = 'queued' and new.status = 'claimed'";
const ENDED = 'old.finished_at is null and new.finished_at is not null';
/** Points of a job. */
const POINTS = {
  claim: { table: 'runner_jobs', when: 'before update', condition: CLAIMED },
  'claim-commit': { table: 'runner_jobs', when: 'deferred update', condition: CLAIMED },
  log: { table: 'runner_job_logs', when: 'before insert' },
  end: { table: 'runner_jobs', when: 'before update', condition: ENDED },
  'end-commit': { table: 'runner_jobs', when: 'deferred update', condition: ENDED },
} as const satisfies Record<string, Place>;
type Point = keyof typeof POINTS;

/** What a process does when it dies: a request of a runner, or the worker ends a job whose lease is over. */
const CASES = [
  ['claim', 'claim'],
  ['claim', 'claim-commit'],
  ['log', 'log'],
  ['complete', 'end'],
  ['complete', 'end-commit'],
  ['settle', 'end'],
  ['settle', 'end-commit'],
] as const;

let app: TestApp;
let api: ApiProcess;
let worker: ChildProcess;
let connection: Connection;
let temporal: Temporal;
const db = () => app.services.db;
const SETTINGS = { RUNNER_LEASE_SECONDS: '600', DATABASE_POOL_SIZE: '20' };
let still: StandStill;

interface Case {
  act: (typeof CASES)[number][0];
  point: Point;
  team: TestTeam;
  runner: TestRunner;
  job_id: string;
}

async function build([act, point]: (typeof CASES)[number]): Promise<Case> {
  const team = await buildTeam(app);
  const runner = await buildRunner(app, team);
  const job_id = await queueJob(app, team);
  if (act !== 'claim') await runner.calls.post('/api/runners/claim', { wait_seconds: 0 });
  return { act, point, team, runner, job_id };
}

const REPORT = { status: 'succeeded', exit_code: 0, output: 'x' };
/** What the runner asks of the process that dies. */
async function go({ act, runner, job_id }: Case): Promise<void> {
  if (act === 'settle') {
    await db()('runner_jobs')
      .where({ job_id })
      .update({ lease_until: db().raw("now() - interval '1 second'") });
    await temporal.workflow.getHandle(runnerJobWorkflowId(job_id)).signal('jobChanged');
    return;
  }
  const [path, body] =
    act === 'claim'
      ? ['claim', { wait_seconds: 0 }]
      : act === 'log'
        ? [`jobs/${job_id}/logs`, { chunk: 'x', offset: 0 }]
        : [`jobs/${job_id}/complete`, REPORT];
  const headers = { authorization: `Bearer ${runner.token}`, 'content-type': 'application/json' };
  void request(`${api.url}/api/runners/${path as string}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => undefined,
  );
}

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), ...SETTINGS });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Temporal({ connection });
  still = new StandStill(app);
  await still.open();
  [api, worker] = await Promise.all([startApiProcess(app, SETTINGS), startWorkerProcess(app, SETTINGS)]);
});
afterAll(async () => {
  worker.kill('SIGKILL');
  killApiProcesses();
  await connection.close();
  await still.close();
  await app.close();
});

it('processes that die at each point of a job leave it claimed once and ended once', async () => {
  const cases: Case[] = [];
  for (const each of CASES) cases.push(await build(each));
  await until(async () => (await db()('outbox').where({ kind: 'runner.job' })).length === 0, 60_000);
  for (const [name, place] of Object.entries(POINTS)) await still.at(name, { ...place, owner: 'new.job_id' });
  // All at once: a statement that stands still ends after ten seconds.
  for (const { point, job_id } of cases) await still.hold(point, job_id);
  await Promise.all(cases.map(go));
  await until(async () => (await still.standing()) === cases.length);
  await still.kill(api.child, worker);
  worker = await startWorkerProcess(app, SETTINGS);
  for (const { act, point, runner, job_id } of cases) {
    const report = (route: string, body: unknown) => runner.calls.post(`/api/runners/jobs/${job_id}/${route}`, body);
    if (act === 'claim') {
      const again = await runner.calls.post('/api/runners/claim', { wait_seconds: 0 });
      // The answer of a claim that was committed is lost: the job is named, and its command is not given twice.
      expect([point, again.status, again.body.job_id]).toEqual([point, point === 'claim' ? 200 : 409, job_id]);
    }
    if (act === 'log') expect((await report('logs', { chunk: 'x', offset: 0 })).body).toMatchObject({ next_offset: 1 });
    if (act === 'settle') {
      expect(await temporal.workflow.getHandle(runnerJobWorkflowId(job_id)).result()).toMatchObject({ state: 'lost' });
      expect((await report('complete', REPORT)).body).toMatchObject({ job_status: 'lost' });
    } else expect((await report('complete', REPORT)).body).toEqual({ job_id, status: 'succeeded' });
  }
  const ours = /^(jobs_|acked_jobs|outbox_empty|chain_intact)/;
  const jobs = cases.map(({ act, job_id }) => ({
    job_id,
    status: act === 'settle' ? 'lost' : 'succeeded',
    bytes: act === 'log' ? 1 : 0,
  }));
  const broken = async (ledger = { ...emptyLedger(), jobs }) =>
    (await checkInvariants({ services: app.services, temporal, ledger })).flatMap(({ name, violations }) =>
      ours.test(name) && violations.length > 0 ? [name] : [],
    );
  await until(async () => (await broken()).length === 0);

  // What the invariants find, planted.
  const [first] = cases as [Case];
  await temporal.workflow.getHandle(runnerJobWorkflowId(first.job_id)).result();
  const row = () => db()('runner_jobs').where({ job_id: first.job_id });
  expect(await broken({ ...emptyLedger(), jobs: [{ job_id: first.job_id, status: 'failed', bytes: 0 }] })).toEqual([
    'acked_jobs_ended',
  ]);
  const old = db().raw("now() - interval '2 minutes'");
  const open = { finished_at: null, status: 'running', lease_until: old, queued_at: old };
  await db().raw('alter table runner_jobs disable trigger user');
  await row().update(open);
  await db()('runner_log_usage').update({ blocks: 7 });
  expect(await broken()).toEqual(['acked_jobs_ended', 'jobs_run_once', 'jobs_end', 'jobs_logs_counted', 'jobs_timed']);
}, 240_000);
