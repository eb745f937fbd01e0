/** Temporal's store lost, or older than the database, and the other way round: everything goes on from the rows, once. */
import { Client, Connection } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { type RunningWorker, startWorker } from '../../activities/worker/start-worker.js';
import { runWorkflowId, scheduleId } from '../../workflows/contracts/run-contract.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { startOwnTemporal, type TemporalServer } from '../support/temporal-server.js';
import { queuePrefix, quietRuntime, runWorker, until } from '../support/worker.js';
import { openRelay } from './support.js';

/** What is decided is carried out within this time of the service's start, ms. */
const IN_TIME_MS = 120_000;

let app: TestApp;
let server: TemporalServer;
let worker: RunningWorker | undefined;
let root: Person;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  quietRuntime();
  server = await startOwnTemporal();
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    TEMPORAL_ADDRESS: server.address,
    MAINTENANCE_SCHEDULES: 'create',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
  });
  root = await buildPerson(app, { role: 'admin' });
}, 180_000);
afterAll(async () => {
  await stopWorker();
  await server.stop();
  await app.close();
});
beforeEach(async () => {
  await server.restart();
  worker ??= await runWorker(app);
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterEach(async () => {
  await db()('automations').update({ is_active: false });
});

const db = () => app.services.db;
async function stopWorker(): Promise<void> {
  await worker?.stop();
  worker = undefined;
}
/** As a start of the service does: nothing waits for Temporal. */
function startHere(): void {
  worker = startWorker(app.services.config, app.services.log, () => undefined);
}

type Automation = { automation_id: string };
type Run = { run_id: string };
const findRun = (automation: Automation) => db()('automation_runs').where(automation).first();
const runIs = (automation: Automation, status: string, ms = IN_TIME_MS) =>
  until(async () => {
    const run = await findRun(automation);
    return run?.status === status && run;
  }, ms);
const getStep = (run: Run, index: number) => db()('run_actions').where({ run_id: run.run_id, index }).first();
const commentsOn = (task: { task_id: string }) =>
  db()('comments').where({ task_id: task.task_id }).orderBy('created_at').pluck<string[]>('content');
const approve = async (run: Run, gate_index: number): Promise<void> => {
  const answer = await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`, { gate_index });
  expect(answer).toMatchObject({ status: 200, body: { decision: 'approved', status: 'running' } });
};
const delay = (seconds: number) => ({ type: 'delay', params: { seconds } });
const atRest = () => until(async () => (await db()('outbox')).length === 0, IN_TIME_MS);
async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
const getStatus = (run: Run) =>
  withTemporal(async (client) => (await client.workflow.getHandle(runWorkflowId(run.run_id)).describe()).status.name);

/** An automation on new tasks; each has a project of its own, so that its task sets off no other. */
async function automate(
  actions: Parameters<typeof buildAutomation>[2]['actions'],
): Promise<Automation & { begin: () => Promise<{ task_id: string }> }> {
  const own = await buildProject(app, team);
  const { automation_id } = await buildAutomation(app, team, { actions, project_id: own.project_id });
  return { automation_id, begin: () => buildTask(app, team, own) };
}
const only = ({ automation_id }: Automation): Automation => ({ automation_id });

/** So long ago, in the rows of a run. */
const age = (run: Run, interval: string) =>
  db().raw(
    `with run as (update automation_runs set queued_at = queued_at - cast(:interval as interval), started_at = started_at - cast(:interval as interval)
       where run_id = :run_id) update gates set requested_at = requested_at - cast(:interval as interval) where run_id = :run_id`,
    { interval, run_id: run.run_id },
  );
/** The time of a step that waits. */
const due = (run: Run, index: number, seconds: number) =>
  db()('run_actions')
    .where({ run_id: run.run_id, index })
    .update({ due_at: db().raw('now() + make_interval(secs => ?)', [seconds]) });

const DAILY = { rule: 'FREQ=DAILY', timezone: 'UTC' };
type Recurring = { task_id: string; series_id: string };
const recur = async (mode: string): Promise<Recurring> =>
  (await buildTask(app, team, project, { due_date: '2099-01-05', recurrence: { ...DAILY, mode } })) as unknown as Recurring;
const occurrence = ({ series_id }: Recurring, occurrence_index: number) =>
  until(() => db()('tasks').where({ series_id, occurrence_index }).first(), IN_TIME_MS);
const finish = async ({ task_id }: { task_id: string }): Promise<void> =>
  expect((await app.as(team.member).patch(`/api/tasks/${task_id}/status`, { status: 'done' })).status).toBe(200);

/** Deprovisions a user. */
async function deprovision(): Promise<string> {
  const { user_id } = await buildPerson(app);
  await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id, role: 'member' });
  const { body } = await app.as(root).post(`/api/admin/users/${user_id}/deprovision`, { reason: 'Left' });
  return body.job_id as string;
}
const isGone = (job_id: string) =>
  until(() => db()('deprovision_jobs').where({ job_id, status: 'succeeded' }).first(), IN_TIME_MS);

it('Temporal’s store is lost under everything that waits: what is decided in the first second is carried out, the rest goes on', async () => {
  const gated = await automate([comment('head'), gate(), comment('tail')]);
  const ages = ['0 seconds', '10 minutes', '5 days'];
  const tasks = [];
  for (const _age of ages) tasks.push(await gated.begin());
  const delayed = await automate([comment('head'), delay(3600), comment('tail')]);
  const slept = await delayed.begin();
  const retried = await automate([{ ...comment('x', 'never-there'), retry: { max_attempts: 2 } }, comment('tail')]);
  const tried = await retried.begin();
  const [done, clocked] = [await recur('on_complete'), await recur('on_schedule')];
  const nightly = { name: 'Nightly', trigger_type: 'schedule', schedule_cron: '0 3 * * *', team_id: team.team_id };
  const { automation_id: scheduled } = (await app.as(team.manager).post('/api/automations', nightly)).body;
  await until(async () => (await db()('automation_runs').where({ ...only(gated), status: 'paused' })).length === ages.length);
  const sleeping = await runIs(only(delayed), 'running');
  await until(async () => (await getStep(sleeping, 1)).due_at);
  const trying = await runIs(only(retried), 'running');
  await until(async () => (await getStep(trying, 0)).due_at);
  await atRest();
  await stopWorker();
  await server.kill();
  server.empty();

  const runs: (Run & { created: number })[] = await db()('automation_runs').where(only(gated)).orderBy('queued_at');
  for (const [i, each] of ages.entries()) await age(runs[i] as Run, each);
  await due(sleeping, 1, 3);
  await due(trying, 0, 3);
  // What was handed to the lost store just before: nothing of it is left in the outbox.
  const job = await deprovision();
  const sealed = { data_key: Buffer.alloc(1), sealed_value: Buffer.alloc(1) };
  await db()('integration_revocations').insert({ user_id: team.member.user_id, provider: 'forge', ...sealed });
  await db()('outbox').delete();

  await server.restart();
  startHere();
  await Promise.all(runs.map((run) => approve(run, 1)));
  await until(
    async () => (await db()('automation_runs').where({ ...only(gated), status: 'succeeded' })).length === ages.length,
    IN_TIME_MS,
  );
  for (const task of tasks) expect(await commentsOn(task)).toEqual(['head', 'tail']);
  await runIs(only(delayed), 'succeeded');
  expect(await commentsOn(slept)).toEqual(['head', 'tail']);
  await runIs(only(retried), 'failed');
  expect(await getStep(trying, 0)).toMatchObject({ attempts: 2 });
  expect(await commentsOn(tried)).toEqual(['tail']);
  await isGone(job);
  await until(async () => (await db()('integration_revocations')).length === 0, IN_TIME_MS);
  await finish(done);
  await occurrence(done, 2);
  await app.as(team.member).patch(`/api/tasks/${clocked.task_id}`, { due_date: '2020-01-05' });
  await occurrence(clocked, 2);
  const id = scheduleId(app.services.config.TASK_QUEUE_PREFIX, scheduled);
  await until(
    () =>
      withTemporal((client) =>
        client.schedule
          .getHandle(id)
          .describe()
          .catch(() => undefined),
      ),
    IN_TIME_MS,
  );
  // Restarted once at most, whichever worker noticed first: a decision may have started its run before the loss was seen.
  const armed = [gated, delayed, retried].map((each) => each.automation_id);
  const restarted = await db()('automation_runs').whereIn('automation_id', armed).pluck('incarnation');
  expect(Math.max(...restarted)).toBe(2);
}, 300_000);

it('the store is replaced under a living worker, which notices by itself', async () => {
  const gated = await automate([gate(), comment('tail')]);
  const task = await gated.begin();
  const delayed = await automate([delay(3600), comment('tail')]);
  const slept = await delayed.begin();
  const run = await runIs(only(gated), 'paused');
  const sleeping = await runIs(only(delayed), 'running');
  await until(async () => (await getStep(sleeping, 0)).due_at);
  await atRest();
  await server.kill();
  server.empty();
  await due(sleeping, 0, 1);
  await server.restart();
  await runIs(only(delayed), 'succeeded');
  expect(await commentsOn(slept)).toEqual(['tail']);
  await approve(run, 0);
  await runIs(only(gated), 'succeeded');
  expect(await commentsOn(task)).toEqual(['tail']);
  const prefix = app.services.config.TASK_QUEUE_PREFIX;
  await until(
    () =>
      withTemporal((client) =>
        client.schedule
          .getHandle(`${prefix}audit-checkpoint`)
          .describe()
          .catch(() => undefined),
      ),
    IN_TIME_MS,
  );
}, 300_000);

it('Temporal comes back with an older store: its workflows catch up with the rows, or give way to what they say', async () => {
  const twice = await automate([comment('head'), gate(), comment('middle'), gate(), comment('tail')]);
  const [ahead, restarted, ended] = [await twice.begin(), await twice.begin(), await twice.begin()];
  const runs = () => db()('automation_runs').where(only(twice)).orderBy('queued_at');
  await until(async () => (await runs().where({ status: 'paused' })).length === 3);
  await atRest();
  const [first, second, third] = (await runs()) as [Run, Run, Run];
  await stopWorker();
  await server.kill();
  const restore = server.backUp();
  await server.restart();
  worker = await runWorker(app);
  for (const run of [first, second, third]) await approve(run, 1);
  await until(
    async () =>
      (
        await db()('gates')
          .where({ gate_index: 3 })
          .whereIn(
            'run_id',
            [first, second, third].map((r) => r.run_id),
          )
      ).length === 3,
  );
  await approve(third, 3);
  await until(async () => (await runs().where({ status: 'succeeded' })).length === 1);
  // Its execution in the older store is not the one that the row names.
  await withTemporal((client) => client.workflow.getHandle(runWorkflowId(second.run_id)).terminate('lost'));
  await until(async () => (await worker?.reconcile()) === 1);
  await until(async () => (await runs().where({ run_id: second.run_id }).whereNotNull('claimed_by')).length === 1);
  await atRest();
  await stopWorker();
  await server.kill();
  restore();
  await server.restart();
  startHere();
  // Nobody decides: the workflow itself shows what its row waits for.
  await until(
    () =>
      withTemporal(async (client) => {
        const { typedSearchAttributes } = await client.workflow.getHandle(runWorkflowId(first.run_id)).describe();
        const shown = typedSearchAttributes.getAll().find(({ key }) => key.name === 'GateExpiresAt')?.value as Date | undefined;
        const open = await db()('gates').where({ run_id: first.run_id, gate_index: 3 }).first();
        return shown?.getTime() === open.expires_at.getTime();
      }),
    IN_TIME_MS,
  );
  await until(
    async () =>
      (await runs().where({ run_id: second.run_id })).every(({ incarnation, claimed_by }) => incarnation === 3 && claimed_by),
    IN_TIME_MS,
  );
  for (const run of [first, second]) await approve(run, 3);
  await until(async () => (await runs().where({ status: 'succeeded' })).length === 3, IN_TIME_MS);
  for (const task of [ahead, restarted, ended]) expect(await commentsOn(task)).toEqual(['head', 'middle', 'tail']);
  await until(async () => (await worker?.reconcile()) === 0 && (await getStatus(third)) === 'COMPLETED', IN_TIME_MS);
}, 300_000);

it('the database comes back older than Temporal’s store: the rows win, and every run goes on from them', async () => {
  const gated = await automate([comment('head'), gate(), comment('tail')]);
  const decidedTask = await gated.begin();
  const decided = await runIs(only(gated), 'paused');
  const again = await automate([comment('head'), gate(), comment('tail')]);
  const againTask = await again.begin();
  const lost = await runIs(only(again), 'paused');
  const series = await recur('on_complete');
  await atRest();
  await stopWorker();
  // These runs wait for their start in the backup.
  const plain = await automate([comment('once')]);
  const plainTask = await plain.begin();
  const held = await automate([comment('head'), gate(), comment('tail')]);
  const heldTask = await held.begin();
  const delayed = await automate([comment('head'), delay(3600), comment('tail')]);
  const delayedTask = await delayed.begin();
  const relay = openRelay(app);
  await relay.drain();
  await relay.close();
  const job = await deprovision();
  const restore = await app.database.backUp();

  worker = await runWorker(app);
  await runIs(only(plain), 'succeeded');
  await runIs(only(held), 'paused');
  const sleeping = await runIs(only(delayed), 'running');
  await until(async () => (await getStep(sleeping, 1)).due_at);
  await approve(decided, 1);
  await runIs(only(gated), 'succeeded');
  await withTemporal((client) => client.workflow.getHandle(runWorkflowId(lost.run_id)).terminate('lost'));
  await until(async () => (await worker?.reconcile()) === 1);
  await until(async () => (await findRun(only(again))).claimed_by);
  const later = await automate([gate()]);
  await later.begin();
  const forgotten = await runIs(only(later), 'paused');
  await finish(series);
  await finish((await occurrence(series, 2)) as { task_id: string });
  await occurrence(series, 3);
  await isGone(job);
  await atRest();
  await stopWorker();
  await restore();

  startHere();
  await runIs(only(plain), 'succeeded');
  expect(await commentsOn(plainTask)).toEqual(['once']);
  await approve(decided, 1);
  await approve(lost, 1);
  await approve(await runIs(only(held), 'paused'), 1);
  for (const automation of [gated, again, held]) await runIs(only(automation), 'succeeded');
  for (const task of [decidedTask, againTask, heldTask]) expect(await commentsOn(task)).toEqual(['head', 'tail']);
  await until(async () => (await getStep(sleeping, 1)).due_at, IN_TIME_MS);
  await due(sleeping, 1, 0);
  const wake = { kind: 'run.wake', subject: sleeping.run_id, correlation_id: uuidv7() };
  await db()('outbox').insert({ ...wake, payload: { run_id: sleeping.run_id } });
  await runIs(only(delayed), 'succeeded');
  expect(await commentsOn(delayedTask)).toEqual(['head', 'tail']);
  await isGone(job);
  expect(await db()('tasks').where({ series_id: series.series_id })).toHaveLength(1);
  await finish(series);
  await occurrence(series, 2);
  // Its row is gone, so its workflow ends.
  await until(async () => (await worker?.reconcile()) === 0 && (await getStatus(forgotten)) === 'COMPLETED', IN_TIME_MS);
  await atRest();
}, 300_000);
