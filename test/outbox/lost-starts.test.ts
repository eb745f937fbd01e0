/** A row that waits for a workflow, which Temporal has acknowledged and lost: no outbox row, no workflow. A worker finds it by itself. */
import { Client, Connection } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { type RunningWorker, startWorker } from '../../activities/worker/start-worker.js';
import { createRuns } from '../../api/automation/runs/record/create-run.js';
import { bulkWorkflowId } from '../../workflows/contracts/bulk-contract.js';
import { cycleWorkflowId } from '../../workflows/contracts/cycle-contract.js';
import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { revocationWorkflowId } from '../../workflows/contracts/revocation-contract.js';
import { scheduleId } from '../../workflows/contracts/run-contract.js';
import { runnerJobWorkflowId } from '../../workflows/contracts/runner-contract.js';
import { seriesWorkflowId } from '../../workflows/contracts/series-contract.js';
import { triageScheduleId } from '../../workflows/contracts/triage-contract.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { createCycle } from '../api/work/cycles/support.js';
import { startApp, type TestApp } from '../support/app.js';
import { startOwnTemporal, type TemporalServer } from '../support/temporal-server.js';
import { queuePrefix, quietRuntime, runWorker, until } from '../support/worker.js';

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
    AI_CHAT_BEGIN_SECONDS: '110',
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
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
async function stopWorker(): Promise<void> {
  await worker?.stop();
  worker = undefined;
}

/** Runs as a lost start leaves them: queued a while ago, with nothing that would start them. Each comments on a task of its own. */
async function plantRuns(owner: TestTeam, count: number): Promise<{ automation_id: string; task_id: string }> {
  const { automation_id } = await buildAutomation(app, owner, { actions: [comment('once')], trigger_type: 'task.deleted' });
  const { task_id } = await buildTask(app, owner, await buildProject(app, owner));
  const runs = Array.from({ length: count }, () => ({
    run_id: uuidv7(),
    automation: { automation_id, name: 'Lost', version: 1 },
    event: { type: 'task.deleted', task: { task_id } },
    trigger_type: 'task.deleted',
    depth: 0,
    correlation_id: uuidv7(),
  }));
  // In one transaction: no relay sees the rows of the outbox.
  await db().transaction(async (trx) => {
    await createRuns({ db: trx }, runs, null);
    await trx('automation_runs')
      .where({ automation_id })
      .update({ queued_at: trx.raw("now() - interval '1 minute'") });
    await trx('outbox').where({ kind: 'run.start' }).delete();
  });
  return { automation_id, task_id };
}
const findRuns = ({ automation_id }: { automation_id: string }, status: string) =>
  db()('automation_runs').where({ automation_id, status }).pluck<string[]>('run_id');
const haveEnded = (planted: { automation_id: string }, count: number) =>
  until(async () => (await findRuns(planted, 'succeeded')).length === count, 240_000);
const commentsOn = async ({ task_id }: { task_id: string }) => (await db()('comments').where({ task_id })).length;

it('a queued run that nothing would start is started by a worker that runs, and by one that starts later', async () => {
  worker = await runWorker(app);
  // The pass that follows a connection may find the first ones; the others are found at any later time.
  const early = await plantRuns(team, 3);
  await haveEnded(early, 3);
  const during = await plantRuns(team, 3);
  await haveEnded(during, 3);
  await stopWorker();
  const before = await plantRuns(team, 3);
  worker = startWorker(app.services.config, app.services.log, () => undefined);
  await haveEnded(before, 3);
  for (const planted of [early, during, before]) {
    expect(await commentsOn(planted)).toBe(3);
    expect(await db()('automation_runs').where({ automation_id: planted.automation_id }).distinct().pluck('incarnation')).toEqual(
      [2],
    );
  }
}, 300_000);

it('1,500 of one team are started once each, behind a page of them another team’s, and Temporal may go away meanwhile', async () => {
  worker ??= await runWorker(app);
  const crowd = await plantRuns(team, 1_500);
  const other = await plantRuns(await buildTeam(app), 1);
  await until(async () => (await findRuns(crowd, 'succeeded')).length > 0);
  await server.kill();
  const before = (await findRuns(crowd, 'succeeded')).length;
  await server.restart();
  await haveEnded(other, 1);
  // It did not wait for the whole crowd, of which many were left.
  const left = 1_500 - (await findRuns(crowd, 'succeeded')).length;
  expect([before < 1_500, left > 0]).toEqual([true, true]);
  await haveEnded(crowd, 1_500);
  expect(await commentsOn(crowd)).toBe(1_500);
  expect(await commentsOn(other)).toBe(1);
}, 400_000);

/** Starts that are lost: what is written to the outbox for Temporal is gone at once, as if it had been acknowledged. */
const LOSE = /* sql */ `
  create function lose_start() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger lose_start before insert on outbox for each row when (new.kind in ('plan.start', 'series.changed', 'cycle.clock',
    'bulk.start', 'runner.job', 'user.deprovision', 'integration.revoke', 'turn.start', 'schedule.sync', 'triage.sync'))
    execute function lose_start()`;
const FIND = 'drop trigger lose_start on outbox; drop function lose_start';

it('plans, series, cycles, jobs, turns, revocations, deprovisionings and schedules are missed like runs', async () => {
  worker ??= await runWorker(app);
  await until(async () => (await worker?.reconcile()) === 0);
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const exists = (workflowId: string) =>
    until(() =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => undefined),
    );
  const isScheduled = (id: string) =>
    until(() =>
      client.schedule
        .getHandle(id)
        .describe()
        .catch(() => undefined),
    );
  await db().raw(LOSE);
  const { member, manager, admin, team_id } = team;
  const task = await buildTask(app, team, project);
  const { action_id } = await staged(app, member, [{ tool: 'task.delete', entity_id: task.task_id, params: {} }]);
  const recurrence = { rule: 'FREQ=DAILY', timezone: 'UTC', mode: 'on_schedule' };
  const { series_id } = (await buildTask(app, team, project, { due_date: '2099-01-05', recurrence })) as never as {
    series_id: string;
  };
  const cycle = await createCycle(app.as(member), {
    project_id: project.project_id,
    end_date: '2099-01-05',
    auto_complete: true,
  });
  await app.as(member).post(`/api/sprints/${cycle.cycle_id}/start`);
  const { job_id: exported } = (await app.as(manager).post('/api/bulk/export', { team_id, format: 'json' })).body;
  const { job_id: queued } = (await app.as(manager).post('/api/runners/jobs', { team_id, command: 'true' })).body;
  const { user_id } = await buildPerson(app);
  const { job_id: leaving } = (await app.as(root).post(`/api/admin/users/${user_id}/deprovision`, { reason: 'Left' })).body;
  const sealed = { data_key: Buffer.alloc(1), sealed_value: Buffer.alloc(1) };
  const [revocation] = await db()('integration_revocations')
    .insert({ user_id: member.user_id, provider: 'forge', ...sealed })
    .returning('revocation_id');
  const nightly = { name: 'Nightly', trigger_type: 'schedule', schedule_cron: '0 3 * * *', team_id };
  const { automation_id } = (await app.as(manager).post('/api/automations', nightly)).body;
  await app.as(admin).put(`/api/ai-workspace/settings?team_id=${team_id}`, { overnight_triage: { enabled: true } });
  const { session_id } = await buildSession(app, member);
  const answer = app.as(member).post('/api/ai-workspace/chat', { session_id, message: 'hello' });
  await until(async () => (await db()('agent_turns').where({ user_id: member.user_id })).length === 1);
  await db().raw(FIND);

  expect((await answer).status).toBe(200);
  for (const id of [
    planWorkflowId(action_id),
    seriesWorkflowId(series_id),
    cycleWorkflowId(cycle.cycle_id),
    bulkWorkflowId(exported),
    runnerJobWorkflowId(queued),
    revocationWorkflowId(revocation.revocation_id),
  ])
    await exists(id);
  await until(() => db()('deprovision_jobs').where({ job_id: leaving, status: 'succeeded' }).first());
  const prefix = app.services.config.TASK_QUEUE_PREFIX;
  await isScheduled(scheduleId(prefix, automation_id));
  await isScheduled(triageScheduleId(prefix, team_id));
  await connection.close();
}, 400_000);
