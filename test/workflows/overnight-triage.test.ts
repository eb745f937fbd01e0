import type { Client } from '@temporalio/client';
import { triageScheduleId } from '../../workflows/contracts/triage-contract.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { until, startWithWorker } from '../support/worker.js';

// The overnight triage in Temporal: one Schedule a team, one workflow a night.

let app: TestApp;
let worker: RunningWorker;
let temporal: Client;
let end: () => Promise<void>;
let team: TestTeam;
beforeAll(async () => {
  ({ app, temporal, end, worker } = await startWithWorker());
});
afterAll(() => end());
beforeEach(async () => {
  team = await buildTeam(app);
});

const put = (body: object) => app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, body);
const enable = (more: object = {}) => put({ overnight_triage: { enabled: true, ...more } });
const schedule = () => temporal.schedule.getHandle(triageScheduleId(app.services.config.TASK_QUEUE_PREFIX, team.team_id));
const described = () =>
  schedule()
    .describe()
    .catch(() => undefined);
const gone = async () => (await described()) === undefined;

/** Starts the night now, as an operator may, and returns its workflow. */
async function startNight() {
  const before = (await schedule().describe()).info.recentActions.length;
  await schedule().trigger();
  const action = await until(async () => (await schedule().describe()).info.recentActions[before]);
  const handle = temporal.workflow.getHandle(action.action.workflow.workflowId);
  return { handle, result: await handle.result() };
}

it('follows the settings: zone and time, as the API tells it, and what was missed by more than six hours is skipped', async () => {
  const { overnight_triage: told } = (await enable({ cron: '30 2 * * *', timezone: 'Europe/Berlin' })).body;
  const { spec, policies, state, info } = await until(described);
  expect(spec.timezone).toBe('Europe/Berlin');
  expect(info.nextActionTimes[0]?.toISOString()).toBe(told.next_run_at);
  const minute = Number(told.next_run_at.slice(14, 16));
  expect(spec.calendars?.[0]).toMatchObject({ hour: [{ start: 2 }], minute: [{ start: minute }] });
  expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 21_600_000 });
  expect(state.note).toBe(`30 2 * * * (Europe/Berlin), at minute ${minute} · overnight triage`);
  await enable({ cron: '0 4 * * *', timezone: 'Europe/Berlin' });
  await until(async () => (await described())?.state.note?.startsWith('0 4'));
  await put({ overnight_triage: { enabled: false } });
  await until(gone);
});

it('a deleted team has no Schedule', async () => {
  await enable();
  await until(described);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}`);
  await until(gone);
});

it('the reconciler restores a Schedule that was lost, and removes one without a team', async () => {
  await enable();
  await until(described);
  await schedule().delete();
  // The list of Schedules may be behind.
  await until(async () => {
    await worker.reconcile();
    return described();
  });
});

it('the reconciler updates a Schedule of an earlier version, which started at any of twenty minutes', async () => {
  await enable();
  await until(described);
  await schedule().update(({ spec, ...before }) => ({
    ...before,
    spec: { ...spec, jitter: '20 minutes' },
    state: { ...before.state, note: '0 2 * * * (UTC) · overnight triage' },
  }));
  await until(async () => {
    await worker.reconcile();
    return !(await described())?.spec.jitter;
  });
  const told = (await app.as(team.admin).get(`/api/ai-workspace/settings?team_id=${team.team_id}`)).body.overnight_triage;
  expect((await described())?.info.nextActionTimes[0]?.toISOString()).toBe(told.next_run_at);
});

it('stages the plan of the night once, and operators read what it did', async () => {
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'Secret title', due_date: '2020-01-01' });
  await enable();
  await until(described);
  const { handle, result } = await startNight();
  expect(result).toMatchObject({ outcome: 'proposed', changes: 1, risk: 'low', actionId: expect.any(String) });
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('1 change proposed, highest risk low');
  const description = await handle.describe();
  expect(await description.staticSummary()).toBe('Overnight triage');
  expect(JSON.stringify(description.typedSearchAttributes.getAll())).toContain('overnight_triage');
  expect(await readKept(handle)).not.toContain('Secret title');
  const again = await startNight();
  expect(again.result).toEqual({ outcome: 'done', actionId: result.actionId });
  expect(await app.services.db('agent_actions').where({ entity_id: task.task_id })).toHaveLength(1);
});

it('a night without work says so', async () => {
  await enable();
  await until(described);
  const { handle, result } = await startNight();
  expect(result).toEqual({ outcome: 'nothing' });
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('nothing to propose');
});
