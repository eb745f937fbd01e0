import { type Ability, hasRoleAtLeast, getRule, type Seat } from '../../api/platform/access/access.js';
import { CASES } from './cases.js';
import type { Row } from './row.js';
import { SUBJECTS } from './subjects.js';
import { actorContext, lockSeries, type Series } from '../../api/work/tasks/recurrence/series/series.js';
import { findEndpoint, getName, Walk } from './run.js';
import { buildWorld, type World } from './world.js';

// Every route, once its ability has been raised to admin in the table: managers and members are refused and nothing is written, also
// where a statement checks the role by itself.

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.app.close());
afterEach(() =>
  world.app.services.db('automations').whereNull('deleted_at').update({ deleted_at: new Date(), is_active: false }),
);

/** Runs `work` while an ability needs another role. */
async function withRole(ability: Ability, seat: Seat, work: () => Promise<void>): Promise<void> {
  const rule = getRule(ability);
  const before = rule.seat;
  rule.seat = seat;
  try {
    await work();
  } finally {
    rule.seat = before;
  }
}

const raisable = (ability: Ability | 'public'): ability is Ability => {
  if (ability === 'public') return false;
  const { seat } = getRule(ability);
  return seat !== 'none' && !hasRoleAtLeast(seat, 'admin');
};

/** Rows about a resource of the caller's own team, whose route asks for a role below admin. */
const rows = CASES.flatMap((row) => {
  const ability = findEndpoint(row)?.ability;
  // `none`: a personal automation, or a run of one, belongs to no team.
  if (!ability || !raisable(ability) || !row.kinds.includes('own') || row.lowest === 'none') return [];
  if (row.public || row.outcome?.own !== undefined) return [];
  const { lowest, ...rest } = row;
  const raised: Row = lowest === 'nobody' ? row : rest;
  return [[getName(row), raised, ability] as const];
});

it.each(rows)('%s follows the table', async (_name, row, ability) => {
  const endpoint = findEndpoint(row);
  if (!endpoint) throw new Error('no such route');
  // An automation whose creator may no longer write cannot be enabled, by admins neither.
  const hasMemberAsCreator = ability === 'automation.write' && row.author === 'colleague';
  const seats = ['guest', 'member', 'manager', ...(hasMemberAsCreator ? [] : ['admin'])];
  const callers = world.actors.filter(({ name }) => seats.includes(name));
  const walk = new Walk(world, row, endpoint, 'spec');
  await withRole(ability, 'admin', () => walk.go(callers, ['own']));
  expect(walk.faults).toEqual([]);
  expect(walk.calls).toBe(seats.length);
});

it('covers every ability that asks for a role below admin and has a route', () => {
  expect([...new Set(rows.map(([, , ability]) => ability))].sort()).toEqual([
    'agent.link',
    'automation.dispatch',
    'automation.read',
    'automation.take_over',
    'automation.write',
    'bulk.read',
    'bulk.run',
    'comment.read',
    'comment.write',
    'custom_field.list',
    'custom_field.manage',
    'custom_field.read',
    'custom_field.set',
    'cycle.read',
    'cycle.write',
    'cycle_time.read',
    'forge.link',
    'gate.decide',
    'gateway.read',
    'gateway.use',
    'item.read',
    'item.write',
    'member.remove',
    'plan.decide',
    'plan.edit',
    'plan.undo',
    'project.read',
    'project.write',
    'project_update.write',
    'relation.write',
    'request.cancel',
    'request.create',
    'request.decide',
    'request.edit',
    'request.read',
    'request.use',
    'request_rule.read',
    'runner.read',
    'runner_job.write',
    'saved_view.write',
    'stage.list',
    'stage.manage',
    'task.follow',
    'task.list',
    'task.read',
    'task.write',
    'team.read',
    'trash.purge',
    'trash.restore',
  ]);
});

/** The admin of the own team, and what that admin asks about. */
const admin = () => world.app.as(world.own.admin);
const build = (subject: 'runForManager' | 'automation') =>
  SUBJECTS[subject](world, { tenant: world.own, trashed: false, author: world.own.colleague.user_id });

it('the creator of an automation follows the table at gates and in their list', async () => {
  const { id } = await build('runForManager');
  await withRole('automation.write', 'admin', async () => {
    const { body } = await admin().get('/api/automations/approvals?limit=200');
    expect(body.approvals.find((gate: { run_id: string }) => gate.run_id === id).creator_left).toBe(true);
    await world.writes();
    const refused = await admin().post(`/api/automations/runs/${id}/approve`);
    expect([refused.status, refused.body.detail]).toEqual([409, 'creator_not_authorized']);
    expect(await world.writes()).toEqual([]);
  });
  expect((await admin().post(`/api/automations/runs/${id}/approve`)).status).toBe(200);
});

it('the creator of an automation follows the table where it is enabled', async () => {
  const { id } = await build('automation');
  await admin().post(`/api/automations/${id}/toggle`, { is_active: false });
  await withRole('automation.write', 'admin', async () => {
    await world.writes();
    const refused = await admin().post(`/api/automations/${id}/toggle`, { is_active: true });
    expect([refused.status, refused.body.detail]).toEqual([409, 'creator_not_authorized']);
    expect(await world.writes()).toEqual([]);
  });
});

it('a series passes over people whose role the table no longer admits', async () => {
  const { services } = world.app;
  const { body: task } = await world.app.as(world.own.member).post('/api/tasks', {
    title: 'Water the plants',
    project_id: world.own.project_id,
    due_date: '2030-01-01',
    recurrence: { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' },
  });
  const { series_id } = await services.db('tasks').where({ task_id: task.task_id }).first('series_id');
  const actor = async () => (await actorContext(services, (await lockSeries(services.db, series_id))?.series as Series))?.actor;
  expect(await actor()).toMatchObject({ userId: world.own.member.user_id });
  await withRole('task.write', 'admin', async () => expect(await actor()).toBeUndefined());
});
