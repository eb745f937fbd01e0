import { completeDueCycle } from '../../../../api/work/cycles/completion/complete-due-cycle.js';
import { daysAfter, nameAfter } from '../../../../api/work/cycles/rules.js';
import type { Cycle } from '../../../../api/work/cycles/schema.js';
import { buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { createCycle, insertTasks } from './support.js';

// A cycle that repeats is followed by one of the same length.

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
});

const member = () => app.as(team.member);
const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const SERIES = { name: 'Sprint 4', auto_complete: true, repeats: true };
const listAll = async (): Promise<Cycle[]> => (await member().get(`/api/sprints?team_id=${team.team_id}`)).body;
/** A cycle that began `days` days ago and whose last day was yesterday. */
async function dueCycle(days: number, fields: object = {}): Promise<Cycle> {
  const cycle = await createCycle(member(), { ...project, ...SERIES, start_date: dayIn(-days), end_date: dayIn(5), ...fields });
  await member().post(`/api/sprints/${cycle.cycle_id}/start`);
  await app.services
    .db('cycles')
    .where({ cycle_id: cycle.cycle_id })
    .update({ end_date: dayIn(-1) });
  return cycle;
}
/** A transaction of this database waits for another's row. */
const untilWaiting = () =>
  until(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await app.services.db.raw<{ rows: unknown[] }>(waiting)).rows.length > 0;
  });
const complete = (cycle: Cycle) => completeDueCycle(app.services, cycle.cycle_id);

it.each([
  [{ start_date: '2026-11-16', end_date: '2026-11-27' }, '2026-11-20', { start_date: '2026-11-28', end_date: '2026-12-09' }],
  [{ start_date: '2026-11-20', end_date: '2026-11-20' }, '2026-11-20', { start_date: '2026-11-21', end_date: '2026-11-21' }],
  // The service was away for weeks: the cycles of that time are left out, and today is in the next one.
  [{ start_date: '2026-11-02', end_date: '2026-11-08' }, '2026-11-29', { start_date: '2026-11-23', end_date: '2026-11-29' }],
  [{ start_date: '2026-11-02', end_date: '2026-11-08' }, '2026-11-30', { start_date: '2026-11-30', end_date: '2026-12-06' }],
  [{ start_date: '9999-12-01', end_date: '9999-12-30' }, '2026-11-20', null],
])('after %j, on %s, comes %j', (cycle, today, next) => expect(daysAfter(cycle, today)).toEqual(next));

it.each([
  ['Sprint 4', 'Sprint 5'],
  ['9', '10'],
  ['Sprint 99', 'Sprint 100'],
  ['Harbour', 'Cycle 7'],
  ['2026-W48', 'Cycle 7'],
  ['Sprint 999999999999', 'Cycle 7'],
])('the cycle after %j is called %j', (name, next) => expect(nameAfter(name, 7)).toBe(next));

it('is followed by a planned one when it starts, once, and by the one that is planned already', async () => {
  const days = { start_date: dayIn(0), end_date: dayIn(6) };
  const first = await createCycle(member(), { ...project, ...SERIES, ...days });
  expect(await listAll()).toHaveLength(1);
  await member().post(`/api/sprints/${first.cycle_id}/start`);
  const [, next, ...others] = await listAll();
  expect(others).toEqual([]);
  expect(next).toMatchObject({
    ...SERIES,
    name: 'Sprint 5',
    status: 'planned',
    number: 2,
    start_date: dayIn(7),
    end_date: dayIn(13),
  });
  expect(next?.created_by).toBe(team.member.user_id);
  const update = (fields: object) => member().patch(`/api/sprints/${first.cycle_id}`, fields);
  await update({ repeats: false });
  await update({ repeats: true });
  expect(await listAll()).toHaveLength(2);
  await member().delete(`/api/sprints/${next?.cycle_id}`);
  await update({ repeats: false });
  expect((await update({ repeats: true })).body).toMatchObject({ repeats: true, status: 'active' });
  expect(await listAll()).toHaveLength(2);
});

it('needs both days and a completion by date; a caller who takes them away ends the repetition', async () => {
  for (const fields of [{}, { start_date: dayIn(0), end_date: dayIn(6) }, { end_date: dayIn(6), auto_complete: true }]) {
    const { status, body } = await member().post('/api/sprints', { ...project, name: 'X', repeats: true, ...fields });
    expect([status, body.message]).toEqual([400, 'repeats needs start_date, end_date and auto_complete']);
  }
  const days = { start_date: dayIn(0), end_date: dayIn(6) };
  const { cycle_id } = await createCycle(member(), { ...project, ...SERIES, ...days });
  const update = async (fields: object) => (await member().patch(`/api/sprints/${cycle_id}`, fields)).body;
  expect(await update({ auto_complete: false })).toMatchObject({ auto_complete: false, repeats: false });
  expect(await update({ auto_complete: true, repeats: true })).toMatchObject({ repeats: true });
  expect(await update({ start_date: null, repeats: true })).toMatchObject({ error_code: 'INVALID_REQUEST' });
  expect(await update({ start_date: null })).toMatchObject({ start_date: null, repeats: false });
});

it('completes by date, hands its open tasks on, and the next one begins, of which a further one is planned', async () => {
  const cycle = await dueCycle(7);
  const [taskId = ''] = await insertTasks(app, team, project, [{}]);
  await member().post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [taskId] });
  const [, planned] = await listAll();
  await app.services
    .db('cycles')
    .where({ cycle_id: planned?.cycle_id })
    .update({ start_date: dayIn(0) });
  await Promise.all([complete(cycle), complete(cycle), complete(cycle)]);
  const all = await listAll();
  expect(all.map(({ name, status, number }) => [name, status, number])).toEqual([
    ['Sprint 4', 'completed', 1],
    ['Sprint 5', 'active', 2],
    ['Sprint 6', 'planned', 3],
  ]);
  expect((await member().get(`/api/tasks/${taskId}`)).body.cycle_id).toBe(planned?.cycle_id);
  const row = await app.services.db('cycles').where({ cycle_id: all[2]?.cycle_id }).first();
  // Nobody acted; who started the series caused what follows.
  expect(row).toMatchObject({ created_by: team.member.user_id, cause_user_ids: [team.member.user_id] });
  const started = await app.services.db('audit_entries').where({ entity_id: planned?.cycle_id, action: 'start' }).first();
  expect([started.user_id, JSON.parse(started.details)]).toEqual([null, { tasks: 1 }]);
  const clocks = await app.services.db('outbox').where({ kind: 'cycle.clock', subject: planned?.cycle_id });
  expect(clocks.length).toBeGreaterThan(0);
});

it('plans the next one at the completion, if it was deleted; one that begins later, or another that is active, is left', async () => {
  const cycle = await dueCycle(6);
  const [, planned] = await listAll();
  await member().delete(`/api/sprints/${planned?.cycle_id}`);
  await complete(cycle);
  expect((await listAll()).map(({ status, start_date }) => [status, start_date])).toEqual([
    ['completed', cycle.start_date],
    ['active', dayIn(0)],
    ['planned', expect.any(String)],
  ]);
  const other = await buildProject(app, team);
  const later = await createCycle(member(), { ...other, name: 'Later', start_date: dayIn(3) });
  const due = await dueCycle(7, other);
  await complete(due);
  expect((await member().get(`/api/sprints/${later.cycle_id}`)).body.status).toBe('planned');
});

it('plans nothing for one that ceases to repeat, or to be due, while its completion waits for it', async () => {
  for (const [fields, states] of [
    [{ repeats: false }, ['completed']],
    [{ end_date: dayIn(9) }, ['active']],
  ] as const) {
    const other = await buildProject(app, team);
    const cycle = await dueCycle(7, other);
    const ofProject = async () => (await listAll()).filter(({ project_id }) => project_id === other.project_id);
    const [, planned] = await ofProject();
    await member().delete(`/api/sprints/${planned?.cycle_id}`);
    const change = await app.services.db.transaction();
    await change('cycles').where({ cycle_id: cycle.cycle_id }).update(fields);
    const completing = complete(cycle);
    await untilWaiting();
    await change.commit();
    expect((await completing).state).toBe('waiting');
    await complete(cycle);
    expect((await ofProject()).map(({ status }) => status)).toEqual(states);
  }
});

it('starts at once with a completion, and one cycle is active', async () => {
  const cycle = await dueCycle(7);
  const [, planned] = await listAll();
  await app.services
    .db('cycles')
    .where({ cycle_id: planned?.cycle_id })
    .update({ start_date: dayIn(0) });
  await Promise.all([
    complete(cycle),
    member().post(`/api/sprints/${planned?.cycle_id}/start`),
    member().patch(`/api/sprints/${cycle.cycle_id}`, { repeats: true }),
    createCycle(member(), { ...project, name: 'Beside' }),
  ]);
  const states = (await listAll()).map(({ status }) => status);
  expect(states.filter((status) => status === 'active')).toHaveLength(1);
  expect(states[0]).toBe('completed');
});
