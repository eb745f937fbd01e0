import { deleteExpiredRuns } from '../../../../api/automation/runs/delete-expired-runs.js';
import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { announceDue } from '../../../../api/work/tasks/write/announce-due.js';
import { advanceSeries } from '../../../../api/work/tasks/recurrence/series/advance-series.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { send } from '../../integrations/forge/deliver.js';
import { buildRun, GATE } from '../../../factories/runs.js';
import { type KillableRelay, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';

// A run that another run caused is also the run of the people who started that one, or wrote what it did.

let app: TestApp;
let relay: KillableRelay;
let team: TestTeam;
let project: { project_id: string };
let other: Person;

type Named = { automation_id: string };
type Started = { run_id: string };
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
  relay = openRelay(app);
});
afterAll(async () => {
  await relay.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  other = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'manager' });
});

const carrier = ({ run_id }: Started) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });
const STRICT = { ...GATE, params: { allow_self_approval: false } };
const write = (title: string) => ({ type: 'create_task', params: { ...project, title } });
const only = (title: string) => `event.task.title == '${title}'`;

async function make(creator: Person, name: string, body: object): Promise<Named> {
  const made = await app.as(creator).post('/api/automations', { name, team_id: team.team_id, ...body });
  expect(made.status).toBe(201);
  return made.body;
}
/** The member's automation, started by hand, that creates a task of this title. */
const first = (title = 'released', creator = team.member): Promise<Named> =>
  make(creator, 'First', { trigger_type: 'manual', actions: [write(title)] });
/** The member's automation with the gate, started by a task of this title. */
const gated = (title = 'released', creator = team.member): Promise<Named> =>
  make(creator, 'Gated', { trigger_type: 'task.created', condition: only(title), actions: [STRICT, write('tail')] });

const execute = async (person: Person, { automation_id }: Named, body: object = {}): Promise<Started> => {
  const started = await app.as(person).post(`/api/automations/${automation_id}/execute`, body);
  expect(started.status).toBe(202);
  return started.body;
};
const perform = async (run: Started): Promise<void> => {
  expect(await performAction(app.services, carrier(run), 0)).toMatchObject({ outcome: 'succeeded' });
  await relay.drain();
};
const findRun = async ({ automation_id }: Named): Promise<Started> => {
  const run = await db()('automation_runs')
    .where({ automation_id })
    .whereNot({ status: 'skipped' })
    .orderBy('queued_at', 'desc')
    .first();
  expect(run).toBeDefined();
  return run;
};
/** The run of the automation with the gate, waiting at it. */
const waiting = async (automation: Named): Promise<Started> => {
  await relay.drain();
  const run = await findRun(automation);
  await openGate(app.services, carrier(run), 0);
  return run;
};
const approve = async (person: Person, { run_id }: Started): Promise<number> =>
  (await app.as(person).post(`/api/automations/runs/${run_id}/approve`, { gate_index: 0 })).status;
const findAsked = ({ run_id }: Started): Promise<string[]> =>
  db()('notifications').where({ run_id, kind: 'approval_requested' }).pluck('user_id');

describe('who may not approve a run that another run caused', () => {
  it('the user who started the other one, who is not notified either', async () => {
    const [a, b] = [await first(), await gated()];
    await perform(await execute(team.manager, a));
    const run = await waiting(b);
    expect((await findAsked(run)).toSorted()).toEqual([team.admin.user_id, other.user_id].toSorted());
    const { approvals } = (await app.as(team.manager).get('/api/automations/approvals')).body;
    expect(approvals.find(({ run_id }: Started) => run_id === run.run_id).can_decide).toBe(false);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('the author of what the other one did', async () => {
    const [a, b] = [await first('harmless'), await gated()];
    await app.as(team.manager).patch(`/api/automations/${a.automation_id}`, { actions: [write('released')] });
    await perform(await execute(team.member, a));
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('nor the user who started the first of a chain, after earlier runs were deleted', async () => {
    const a = await first('one');
    const between = await make(team.admin, 'Between', {
      trigger_type: 'task.created',
      condition: only('one'),
      actions: [write('released')],
    });
    const b = await gated();
    await perform(await execute(team.manager, a));
    await perform(await findRun(between));
    await db()('automation_runs')
      .whereIn('automation_id', [a.automation_id, between.automation_id])
      .update({ status: 'succeeded', finished_at: db().raw("now() - interval '1000 days'") });
    await deleteExpiredRuns(app.services);
    expect(await db()('automation_runs').whereIn('automation_id', [a.automation_id, between.automation_id])).toEqual([]);
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(team.admin, run), await approve(other, run)]).toEqual([
      403, 403, 200,
    ]);
  });

  it('nor a user who names another actor in the event of a manual start', async () => {
    const [a, b] = [await first(), await gated()];
    const forged = { actor_id: other.user_id, triggered_by: other.user_id, cause_user_ids: [], caused_by_run: null };
    await perform(await execute(team.manager, a, { event: forged }));
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('nor anyone of these at a replay of such a run, when the first run is no longer kept', async () => {
    const [a, b] = [await first(), await gated()];
    await perform(await execute(team.manager, a));
    await relay.drain();
    const failed = await findRun(b);
    await db()('automation_runs').where({ run_id: failed.run_id }).update({ status: 'failed', finished_at: db().fn.now() });
    const replay = await app.as(team.admin).post(`/api/automations/dead-letter/${failed.run_id}/retry`, {});
    expect(replay.status).toBe(200);
    await db()('automation_runs')
      .where({ run_id: failed.run_id })
      .update({ finished_at: db().raw("now() - interval '1000 days'") });
    await deleteExpiredRuns(app.services);
    const run = await waiting(b);
    expect(run.run_id).toBe(replay.body.run_id);
    expect([await approve(team.manager, run), await approve(team.admin, run), await approve(other, run)]).toEqual([
      403, 403, 200,
    ]);
  });

  it('nor the user who completed a recurring task', async () => {
    const b = await gated();
    const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' };
    const task = { ...project, title: 'released', due_date: '2026-12-01', recurrence };
    const made = (await app.as(team.member).post('/api/tasks', task)).body.data;
    await relay.drain();
    await db()('automation_runs')
      .where({ automation_id: b.automation_id })
      .update({ status: 'succeeded', finished_at: db().fn.now() });
    expect((await app.as(team.manager).patch(`/api/tasks/${made.task_id}`, { status: 'done' })).status).toBe(200);
    const { series_id } = await db()('tasks').where({ task_id: made.task_id }).first();
    expect(await advanceSeries(app.services, series_id)).toMatchObject({ made: true });
    const run = await waiting(b);
    expect((await db()('automation_runs').where({ run_id: run.run_id }).first()).triggered_by).toBe(team.member.user_id);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('nor the user who started the run that completed it', async () => {
    const b = await gated();
    const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' };
    const made = (
      await app.as(team.member).post('/api/tasks', { ...project, title: 'released', due_date: '2026-12-01', recurrence })
    ).body.data;
    await relay.drain();
    await db()('automation_runs')
      .where({ automation_id: b.automation_id })
      .update({ status: 'succeeded', finished_at: db().fn.now() });
    const completes = await make(team.member, 'Complete', {
      trigger_type: 'manual',
      actions: [{ type: 'set_task_status', params: { task_id: made.task_id, status: 'done' } }],
    });
    await perform(await execute(team.manager, completes));
    const { series_id } = await db()('tasks').where({ task_id: made.task_id }).first();
    expect(await advanceSeries(app.services, series_id)).toMatchObject({ made: true });
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });
});

describe('who may not approve a run that a due date caused', () => {
  const overdue = () => make(team.member, 'Gated', { trigger_type: 'task.overdue', actions: [STRICT, write('tail')] });
  const task = async (person: Person, fields: object) =>
    (await app.as(person).post('/api/tasks', { ...project, title: 'T', ...fields })).body.data as { task_id: string };
  const due = { due_date: '2026-01-01' };

  it('the user who created the task with it', async () => {
    const b = await overdue();
    await task(team.manager, due);
    await announceDue(app.services);
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('the user who set it last, manually or by a run; the creator of the task may', async () => {
    const b = await overdue();
    const [byHand, byRun] = [await task(other, due), await task(other, {})];
    expect((await app.as(team.manager).patch(`/api/tasks/${byHand.task_id}`, { due_date: '2026-01-02' })).status).toBe(200);
    await app.as(other).patch(`/api/tasks/${byHand.task_id}`, { title: 'Later' });
    await announceDue(app.services);
    const first = await waiting(b);
    expect([await approve(team.manager, first), await approve(other, first)]).toEqual([403, 200]);
    const sets = { trigger_type: 'manual', actions: [{ type: 'update_task', params: { task_id: byRun.task_id, ...due } }] };
    await perform(await execute(team.manager, await make(team.member, 'Sets', sets)));
    await announceDue(app.services);
    const second = await waiting(b);
    expect(second.run_id).not.toBe(first.run_id);
    expect([await approve(team.manager, second), await approve(other, second)]).toEqual([403, 200]);
  });
});

describe('who may not approve a run that a delivery caused', () => {
  /** The manager's account at the code host, as it was written when they connected it. */
  const connect = (person: Person, account: string) =>
    db()('integration_connections').insert({
      user_id: person.user_id,
      provider: 'forge',
      account,
      scopes: [],
      data_key: Buffer.of(0),
      sealed_value: Buffer.of(0),
    });
  const deliver = async (name: 'issues.opened' | 'pull_request.merged') => {
    const repo = `Acme/Rocket-${team.team_id}`;
    const binding = { repo, team_id: team.team_id, ...project, sync_issues: true };
    expect((await app.as(team.admin).post('/api/forge/repositories', binding)).status).toBe(201);
    await connect(team.manager, 'MONA');
    await connect(other, 'somebody-else');
    const patch = { 'repository.full_name': repo, 'sender.login': 'Mona' };
    const issue = name === 'issues.opened' ? { 'issue.title': 'released' } : {};
    expect((await send(app, name, { ...patch, ...issue })).status).toBe(200);
  };

  it('the user who sent it, by their connected account at the code host', async () => {
    const b = await make(team.member, 'Gated', { trigger_type: 'forge.pr_merged', actions: [STRICT, write('tail')] });
    await deliver('pull_request.merged');
    const run = await waiting(b);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });

  it('the user who opened an issue that became a task of the user who bound the repository', async () => {
    const b = await gated();
    await deliver('issues.opened');
    const run = await waiting(b);
    expect((await db()('automation_runs').where({ run_id: run.run_id }).first()).triggered_by).toBe(team.admin.user_id);
    expect([await approve(team.manager, run), await approve(other, run)]).toEqual([403, 200]);
  });
});

it('nor an administrator who made the change while impersonating another user', async () => {
  const operator = await buildPerson(app, { role: 'admin' });
  await db()('memberships').insert({ team_id: team.team_id, user_id: operator.user_id, role: 'manager' });
  const b = await gated('released', team.admin);
  const acting = await app
    .as(operator)
    .post('/api/admin/impersonate', { user_id: team.member.user_id, reason: 'Looks into ticket 4711' });
  expect(acting.status).toBe(200);
  const made = await app.as(acting.body.token).post('/api/tasks', { ...project, title: 'released' });
  expect(made.status).toBe(201);
  const run = await waiting(b);
  expect([await approve(operator, run), await approve(other, run)]).toEqual([403, 200]);
});

it('an approval that does not count any more for that reason does not fill the quorum', async () => {
  const automation = await gated();
  const run = await buildRun(app, team, {
    automation,
    gateIndex: 0,
    fields: { cause_user_ids: [team.manager.user_id] },
  });
  await db()('gate_approvals').insert({ run_id: run.run_id, gate_index: 0, user_id: team.manager.user_id });
  await db()('gates').where({ run_id: run.run_id }).update({ required_approvals: 2 });
  const answer = await app.as(other).post(`/api/automations/runs/${run.run_id}/approve`);
  expect(answer.body).toMatchObject({ status: 'paused', approvals_needed: 1 });
});
