import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { runDelay } from '../../../../api/automation/runs/execution/run-delay.js';
import { buildProject, buildTask, buildTeam, type TestTeam, UNSEATED } from '../../../factories/people.js';
import { buildRun, GATE } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

/** As the activity of the workflow that has taken the run. */
const carrier = (run: { run_id: string }) => ({ runId: run.run_id, incarnation: 1, execution: 'an-execution' });
const buildActions = (run: { run_id: string }) => app.services.db('run_actions').where({ run_id: run.run_id }).orderBy('index');

describe('a team’s automation', () => {
  it('does nothing in another team of its creator', async () => {
    const other = await buildTeam(app);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'admin' });
    const project = await buildProject(app, other);
    const task = await buildTask(app, other, project);
    const { task_id } = task;
    const actions = [
      { type: 'create_task', params: { ...project, title: 'From outside' } },
      { type: 'update_task', params: { task_id, title: 'From outside' } },
      { type: 'set_task_status', params: { task_id, status: 'done' } },
      { type: 'assign_task', params: { task_id, assigned_to: team.member.user_id } },
      { type: 'add_comment', params: { task_id, content: 'From outside' } },
    ];
    const run = await buildRun(app, team, { actions, status: 'running', statuses: actions.map(() => 'pending') });
    for (const index of actions.keys())
      expect(await performAction(app.services, carrier(run), index)).toMatchObject({ outcome: 'failed' });
    for (const action of await buildActions(run)) {
      expect(action).toMatchObject({ status: 'failed', error: { code: 'permission_denied' } });
    }
    expect((await app.as(other.member).get(`/api/tasks?project_id=${project.project_id}`)).body).toEqual([
      { ...task, subtasks: [] },
    ]);
    expect((await app.as(other.member).get(`/api/tasks/${task_id}/comments`)).body).toEqual([]);
    expect(await app.services.db('effects').where({ run_id: run.run_id })).toEqual([]);
    expect(await app.services.db('audit_entries').where({ team_id: other.team_id, actor_type: 'automation' })).toEqual([]);
  });

  it('acts in its own team; a personal one wherever its creator may', async () => {
    const { task_id } = await buildTask(app, team, await buildProject(app, team));
    const actions = [{ type: 'add_comment', params: { task_id, content: 'From inside' } }];
    for (const inTeam of [true, false]) {
      const run = await buildRun(app, team, { actions, inTeam, status: 'running', statuses: ['pending'] });
      expect(await performAction(app.services, carrier(run), 0)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    }
  });
});

it('cancels a task, and fails plainly where the task is not done', async () => {
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  const actions = [
    { type: 'update_task', params: { task_id, resolution: 'canceled' } },
    { type: 'set_task_status', params: { task_id, status: 'done', resolution: 'canceled' } },
    { type: 'update_task', params: { task_id, resolution: 'duplicate' } },
  ];
  for (const [index, action] of actions.entries()) {
    const run = await buildRun(app, team, { actions: [action], status: 'running', statuses: ['pending'] });
    const outcome = index === 0 ? 'failed' : 'succeeded';
    expect(await performAction(app.services, carrier(run), 0)).toMatchObject({ outcome });
  }
  const { body } = await app.as(team.member).get(`/api/tasks/${task_id}`);
  expect(body).toMatchObject({ status: 'done', resolution: 'duplicate' });
});

it.each(UNSEATED)('nothing is done in the name of a creator who %s', async (_what, lose, message) => {
  const own = await buildTeam(app);
  const project = await buildProject(app, own);
  const { task_id } = await buildTask(app, own, project);
  const actions = [
    { type: 'notify', params: { role: 'manager', message: 'From outside' } },
    { type: 'add_comment', params: { task_id, content: 'From outside' } },
    { type: 'create_task', params: { ...project, title: '{{event.nothing}}' } },
  ];
  const run = await buildRun(app, own, { actions, status: 'running', statuses: actions.map(() => 'pending') });
  await lose(app, own, own.member);
  for (const index of actions.keys()) await performAction(app.services, carrier(run), index);
  for (const { error } of await buildActions(run)) expect(error).toEqual({ code: 'creator_not_authorized', message });
  expect(await app.services.db('effects').where({ run_id: run.run_id })).toEqual([]);
  expect((await app.as(own.manager).get('/api/notifications')).body).toEqual([]);
  expect((await app.as(own.manager).get(`/api/tasks/${task_id}/comments`)).body).toEqual([]);
});

it('a gate of a run that ended meanwhile is closed, not waited for', async () => {
  const run = await buildRun(app, team, { actions: [GATE], status: 'failed', statuses: ['skipped'], gateIndex: 5 });
  expect(await openGate(app.services, carrier(run), 0)).toMatchObject({ state: 'closed' });
  expect(await app.services.db('gates').where({ run_id: run.run_id })).toEqual([]);
});

it.each([
  ['{{event.task}}', '{"title":"Fix"}'],
  ['{{event.labels}}', '["bug"]'],
  ['{{event.nobody}}', null],
  ['{{event.pr_number}}', '12'],
  ['{{event.long}}', 'é'.repeat(2_000)],
  ['{{event.rockets}}', '🚀'.repeat(2_000)],
  ['Ship {{event.long}}?', `Ship ${'é'.repeat(1_995)}`],
  ['Ship {{event.nothing}}?', 'Ship {{event.nothing}}?'],
])('a gate asks in text, of the length that a message may have: %s', async (message, asked) => {
  const event = {
    type: 'manual',
    pr_number: 12,
    task: { title: 'Fix' },
    labels: ['bug'],
    nobody: null,
    long: 'é'.repeat(30_000),
    rockets: '🚀'.repeat(2_001),
  };
  const run = await buildRun(app, team, {
    actions: [{ ...GATE, params: { message } }],
    status: 'running',
    statuses: ['pending'],
    gateIndex: 5,
    fields: { event: JSON.stringify(event) },
  });
  await openGate(app.services, carrier(run), 0);
  expect(await app.services.db('gates').where({ run_id: run.run_id }).first()).toMatchObject({ message: asked });
});

describe('a deleted automation', () => {
  const DELAY = { type: 'delay', params: { seconds: 3_600 } };
  const FAILING = { type: 'add_comment', params: { task_id: 'nobody', content: 'x' }, retry: { max_attempts: 2 } };
  const begin = (action: object) =>
    buildRun(app, team, { actions: [action, GATE] as never, status: 'running', statuses: ['pending', 'pending'], gateIndex: 9 });
  const getStatus = async ({ run_id }: { run_id: string }) =>
    (await app.services.db('automation_runs').where({ run_id }).first<{ status: string }>()).status;
  const remove = (run: { automation_id: string }) => app.as(team.admin).delete(`/api/automations/${run.automation_id}`);
  const WAITS = [
    ['a delay', DELAY, runDelay],
    ['a next try', FAILING, performAction],
    ['a gate', GATE, openGate],
  ] as const;

  it.each(WAITS)('takes what waits with it: %s', async (_what, action, perform) => {
    const run = await begin(action);
    await perform(app.services, carrier(run), 0);
    expect((await remove(run)).body).toMatchObject({ cancelled_runs: 1 });
    expect(await getStatus(run)).toBe('cancelled');
    // What was tried in vain stays failed.
    const left = perform === performAction ? 'failed' : 'skipped';
    expect((await buildActions(run)).map(({ status }) => status)).toEqual([left, 'skipped']);
  });

  it.each(WAITS)('lets nothing of it begin to wait: %s', async (_what, action, perform) => {
    const run = await begin(action);
    expect((await remove(run)).body).toMatchObject({ cancelled_runs: 0 });
    await perform(app.services, carrier(run), 0);
    expect(await getStatus(run)).toBe('cancelled');
  });

  it.each(WAITS)('waits for what comes to a wait at that moment: %s', async (_what, action, perform) => {
    const run = await begin(action);
    const { db } = app.services;
    const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const heldUp = (count: number) => until(async () => (await db.raw<{ rowCount: number }>(sql)).rowCount === count);
    const holder = await db.transaction();
    await holder('run_actions').where({ run_id: run.run_id, index: 0 }).forUpdate();
    const acting = perform(app.services, carrier(run), 0);
    await heldUp(1);
    const deletion = remove(run);
    await Promise.race([deletion, heldUp(2)]);
    await holder.commit();
    await acting;
    expect((await deletion).status).toBe(200);
    expect(await getStatus(run)).toBe('cancelled');
  });
});
