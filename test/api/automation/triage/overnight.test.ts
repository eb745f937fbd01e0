import { triageNight } from '../../../../api/automation/triage/triage-night.js';
import { buildProject, buildTask, buildTeam, leave, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { computeDigest } from '../../agent/mcp/digest.js';

// What one night proposes for a team.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await enable();
});

const db = () => app.services.db;
const DAY_MS = 86_400_000;
const dayFrom = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const enable = (overnight: object = {}, of = team) =>
  app.as(of.admin).put(`/api/ai-workspace/settings?team_id=${of.team_id}`, { overnight_triage: { enabled: true, ...overnight } });
const night = (at: Date | string = new Date(), of = team) =>
  triageNight(app.services, of.team_id, typeof at === 'string' ? at : at.toISOString());
const task = (fields: object = {}, place = project) => buildTask(app, team, place, { ...fields });
const overdue = (fields: object = {}) => task({ due_date: dayFrom(-3), priority: 'low', ...fields });
/** A task that nobody has touched for so many days. */
async function quiet(days: number, fields: object = {}): Promise<{ task_id: string }> {
  const made = await task(fields);
  await db()('tasks')
    .where({ task_id: made.task_id })
    .update({ updated_at: db().raw('now() - make_interval(days => ?)', [days]) });
  return made;
}
const findPlans = (of = team) => db()('agent_plans').where({ team_id: of.team_id }).orderBy('staged_at');
const buildActions = async (actionId: string | undefined) => {
  const plan = await db()('agent_plans').where({ action_id: actionId }).first();
  return JSON.parse(plan.canonical).actions as { tool: string; entity_id: string; params: Record<string, unknown> }[];
};
const decide = (actionId = '', status = 'applied', days = 0) =>
  db()('agent_plans')
    .where({ action_id: actionId })
    .update({ status, closed_reason: 'person', decided_at: db().raw('now() - make_interval(days => ?)', [days]) });

it('raises what is overdue by one step, asks about what nobody touched, overdue first, and changes nothing itself', async () => {
  const late = await overdue({ title: 'Late', priority: 'medium' });
  const old = await quiet(15, { title: 'Old' });
  await task({ due_date: dayFrom(3) });
  await quiet(13);
  const before = await computeDigest(app);
  const result = await night();
  expect(result).toMatchObject({ outcome: 'proposed', changes: 2, risk: 'low' });
  expect(await buildActions(result.actionId)).toMatchObject([
    { tool: 'task.update', entity_id: late.task_id, params: { priority: 'high' } },
    { tool: 'task.comment', entity_id: old.task_id, params: { content: expect.stringContaining('14 days') } },
  ]);
  expect(await computeDigest(app)).toEqual(before);
  const [plan] = await findPlans();
  expect(plan).toMatchObject({ source: 'overnight_triage', status: 'staged', owner_id: null, staged_for: team.admin.user_id });
  expect(await db()('agent_sessions').where({ session_id: plan.session_id })).toMatchObject([
    { kind: 'overnight_triage', team_id: team.team_id, subject_key: `triage:${team.team_id}:${dayFrom(0)}` },
  ]);
});

it.each([
  ['done', { status: 'done' }],
  ['archived', { is_archived: true }],
  ['urgent already', { priority: 'urgent' }],
  ['due today', { due_date: dayFrom(0) }],
])('leaves alone what is %s', async (_what, fields) => {
  const { task_id } = await overdue();
  await app.as(team.member).patch(`/api/tasks/${task_id}`, fields);
  expect(await night()).toEqual({ outcome: 'nothing' });
});

it('leaves alone what is in the trash or in a project that is not active, and other teams', async () => {
  const { task_id } = await overdue();
  await app.as(team.member).delete(`/api/tasks/${task_id}`);
  const paused = await buildProject(app, team, { status: 'archived' });
  await task({ due_date: dayFrom(-3) }, paused);
  const other = await buildTeam(app);
  await buildTask(app, other, await buildProject(app, other), { due_date: dayFrom(-3) });
  expect(await night()).toEqual({ outcome: 'nothing' });
});

it('a comment counts as a touch', async () => {
  const { task_id } = await quiet(20);
  await app.as(team.member).post(`/api/tasks/${task_id}/comments`, { content: 'Still on it' });
  expect(await night()).toEqual({ outcome: 'nothing' });
});

it('a quiet night leaves no session, plan, notification or mail', async () => {
  const counts = async () =>
    Promise.all(['agent_sessions', 'agent_plans', 'notifications', 'mails'].map((table) => db()(table).count().first()));
  const before = await counts();
  expect(await night()).toEqual({ outcome: 'nothing' });
  expect(await counts()).toEqual(before);
});

it('proposes 50 changes at most', async () => {
  for (let n = 0; n < 52; n += 1) await overdue({ title: `T${n}` });
  expect(await night()).toMatchObject({ outcome: 'proposed', changes: 50, risk: 'medium' });
}, 120_000);

it('one plan a night, however often and at once it is asked for', async () => {
  await overdue();
  const results = await Promise.all(Array.from({ length: 8 }, () => night()));
  expect(results.map(({ outcome }) => outcome).toSorted()).toEqual([...Array.from({ length: 7 }, () => 'done'), 'proposed']);
  expect(await findPlans()).toHaveLength(1);
  expect(await night()).toMatchObject({ outcome: 'done' });
});

it('tells those who may confirm at once, and nobody else', async () => {
  await overdue();
  await night();
  const told = await db()('notifications').where({ team_id: team.team_id }).pluck<string[]>('user_id');
  expect(told.toSorted()).toEqual([team.admin, team.manager, team.member].map(({ user_id }) => user_id).toSorted());
});

describe('the next night', () => {
  const tomorrow = () => new Date(Date.now() + DAY_MS);

  it('replaces the plan that nobody decided, and says so', async () => {
    await overdue();
    const first = await night();
    await overdue({ title: 'Another' });
    const second = await night(tomorrow());
    expect(second).toMatchObject({ outcome: 'proposed', changes: 2 });
    const [was, is] = await findPlans();
    expect(was).toMatchObject({
      status: 'discarded',
      closed_reason: 'superseded',
      superseded_by: second.actionId,
      decided_by: null,
    });
    expect(is).toMatchObject({ status: 'staged' });
    expect(await db()('outbox').where({ kind: 'plan.wake', subject: first.actionId })).toHaveLength(1);
    const entries = await db()('audit_entries').where({ entity_id: first.actionId, action: 'discard' });
    expect(entries.map(({ details }) => JSON.parse(details))).toEqual([{ reason: 'superseded', superseded_by: second.actionId }]);
  });

  it('keeps yesterday’s plan if there is nothing new to propose', async () => {
    const { task_id } = await overdue();
    await night();
    await db()('tasks').where({ task_id }).update({ status: 'done' });
    expect(await night(tomorrow())).toEqual({ outcome: 'nothing' });
    expect(await findPlans()).toMatchObject([{ status: 'staged' }]);
  });

  it('keeps yesterday’s plan if staging fails half way', async () => {
    await overdue();
    await night();
    await db().raw(`create function refuse_plan() returns trigger language plpgsql as $$
      begin if new.status = 'discarded' then raise exception 'half way' using errcode = 'XX000'; end if; return new; end $$`);
    await db().raw('create trigger refuse_plan before update on agent_plans for each row execute function refuse_plan()');
    try {
      await expect(night(tomorrow())).rejects.toThrow('half way');
    } finally {
      await db().raw('drop trigger refuse_plan on agent_plans');
    }
    expect(await findPlans()).toMatchObject([{ status: 'staged', superseded_by: null }]);
    expect(await night(tomorrow())).toMatchObject({ outcome: 'proposed' });
  });

  it.each(['applied', 'discarded'])('asks nothing again that was %s within 14 days', async (status) => {
    const late = await overdue();
    const old = await quiet(20);
    const { actionId } = await night();
    await decide(actionId, status);
    expect(await night(tomorrow())).toEqual({ outcome: 'nothing' });
    await decide(actionId, status, 15);
    const again = await night(tomorrow());
    expect((await buildActions(again.actionId)).map(({ entity_id }) => entity_id)).toEqual([late.task_id, old.task_id]);
  });

  it('asks again what only expired, or was replaced', async () => {
    await overdue();
    const { actionId } = await night();
    await db()('agent_plans').where({ action_id: actionId }).update({ status: 'expired' });
    expect(await night(tomorrow())).toMatchObject({ outcome: 'proposed', changes: 1 });
    expect(await night(new Date(Date.now() + 2 * DAY_MS))).toMatchObject({ outcome: 'proposed', changes: 1 });
  });
});

describe('the night has the day of the team’s zone', () => {
  const subjects = () => db()('agent_sessions').where({ team_id: team.team_id }).pluck<string[]>('subject_key');
  // Far in the past, so that the nights of two years are nights of their own.
  it.each([
    ['2026-03-29T00:30:00Z', 'Europe/Berlin', '2026-03-29', 'before the clock jumps over two o’clock'],
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29', 'when it has jumped'],
    ['2026-10-25T00:00:00Z', 'Europe/Berlin', '2026-10-25', 'the first two o’clock'],
    ['2026-10-25T01:00:00Z', 'Europe/Berlin', '2026-10-25', 'the second two o’clock'],
    ['2026-11-22T07:00:00Z', 'America/Los_Angeles', '2026-11-21', 'west of Greenwich it is the day before'],
    ['2026-11-21T14:00:00Z', 'Pacific/Auckland', '2026-11-22', 'far in the east the day after'],
  ])('%s in %s is %s: %s', async (at, timezone, date) => {
    await enable({ timezone });
    await overdue({ due_date: '2020-01-01' });
    expect(await night(at)).toMatchObject({ outcome: 'proposed' });
    expect(await subjects()).toEqual([`triage:${team.team_id}:${date}`]);
  });

  it('a night whose hour comes twice has one plan', async () => {
    await enable({ timezone: 'Europe/Berlin' });
    await overdue({ due_date: '2020-01-01' });
    expect(await night('2026-10-25T00:00:00Z')).toMatchObject({ outcome: 'proposed' });
    expect(await night('2026-10-25T01:00:00Z')).toMatchObject({ outcome: 'done' });
  });
});

describe('does nothing', () => {
  it('when it is off, or the team is gone or unknown', async () => {
    await overdue();
    await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { overnight_triage: { enabled: false } });
    expect(await night()).toEqual({ outcome: 'off' });
    await enable();
    await db()('teams').where({ team_id: team.team_id }).update({ deleted_at: new Date() });
    expect(await night()).toEqual({ outcome: 'off' });
    expect(await night(new Date(), { ...team, team_id: '00000000-0000-7000-8000-000000000000' })).toEqual({ outcome: 'off' });
  });

  it('when the admin who enabled it may no longer write', async () => {
    await overdue();
    await leave(app, team, team.admin);
    expect(await night()).toEqual({ outcome: 'blocked' });
    expect(await findPlans()).toEqual([]);
  });

  it('reports that the team has the maximum number of staged plans', async () => {
    await overdue();
    const { actionId } = await night();
    await db().raw(
      `insert into agent_plans (action_id, session_id, team_id, team_ids, source, staged_for, summary, risk, canonical, plan_hash,
         correlation_id, expires_at)
       select uuidv7(), session_id, team_id, team_ids, 'automation', staged_for, summary, risk, canonical, plan_hash, correlation_id, expires_at
       from agent_plans, generate_series(1, 199) where action_id = ?`,
      [actionId ?? ''],
    );
    expect(await night(new Date(Date.now() + DAY_MS))).toEqual({ outcome: 'refused', code: 'RESOURCE_CONFLICT' });
    expect(await findPlans()).toHaveLength(200);
  });
});
