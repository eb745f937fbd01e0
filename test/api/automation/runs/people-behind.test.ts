import { advanceSeries } from '../../../../api/work/tasks/recurrence/series/advance-series.js';
import { fireSchedule } from '../../../../api/automation/definitions/schedule/fire-schedule.js';
import { announceDue } from '../../../../api/work/tasks/write/announce-due.js';
import { buildPerson, buildProject, buildTeam, type Person } from '../../../factories/people.js';
import { type KillableRelay, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { importText, ndjson } from '../../bulk/import-support.js';
import { GatedTeam } from './gated-team.js';

// Who makes a task come due, or a schedule run, is behind the runs that follow, however long ago and whatever others did since.

let app: TestApp;
let relay: KillableRelay;
let world: GatedTeam;
let manager: Person;
let member: Person;
let admin: Person;

beforeAll(async () => {
  app = await startApp();
  relay = openRelay(app);
});
afterAll(async () => {
  await relay.close();
  await app.close();
});
beforeEach(async () => {
  world = await GatedTeam.build(app, relay);
  ({ manager, member, admin } = world.team);
});

const db = () => app.services.db;
const OLD = { due_date: '2026-01-01' };
const EDITS = 101;

describe('a due date', () => {
  const overdue = () => world.gated('task.overdue');
  const refused = async (automation: { automation_id: string }, ...people: Person[]) => {
    await announceDue(app.services);
    await world.refuses(automation, ...people);
  };

  it('is of who set it, after any number of other changes', async () => {
    const automation = await overdue();
    const task = await world.task(world.other, {});
    await world.patch(manager, task, OLD);
    for (let n = 0; n < EDITS; n += 1) await world.patch(world.other, task, { title: `Edit ${n}` });
    await refused(automation, manager);
  });

  it('is of who last changed it alone', async () => {
    const automation = await overdue();
    const task = await world.task(world.other, OLD);
    await world.patch(manager, task, { due_date: null });
    await world.patch(admin, task, { due_date: '2026-01-02' });
    await announceDue(app.services);
    const run = await world.waiting(automation);
    expect([await world.approve(admin, run), await world.approve(manager, run)]).toEqual([403, 200]);
  });

  it.each([
    ['reopens', { status: 'done' }, { status: 'todo' }],
    ['unarchives', { is_archived: true }, { is_archived: false }],
  ])('is also of who %s the task', async (_how, before, after) => {
    const automation = await overdue();
    const task = await world.task(admin, { title: 'T' });
    await world.patch(admin, task, { ...before, ...OLD });
    await world.patch(manager, task, after);
    await refused(automation, manager, admin);
  });

  it('is also of who moves it, or its parent, to the project', async () => {
    const elsewhere = await buildProject(app, world.team);
    const automation = await world.gated('task.overdue', world.project);
    const parent = await world.task(admin, { ...elsewhere, ...OLD });
    const child = await world.task(admin, { ...elsewhere, ...OLD, parent_task_id: parent.task_id });
    await world.patch(manager, parent, world.project);
    const rows = await db()('tasks').whereIn('task_id', [parent.task_id, child.task_id]);
    const both = [admin.user_id, manager.user_id].toSorted();
    expect(rows.map(({ due_set_by }) => due_set_by.toSorted())).toEqual([both, both]);
    await refused(automation, manager, admin);
  });

  it('is also of who restores the task, or its project, from the trash', async () => {
    const automation = await overdue();
    const alone = await world.task(admin, OLD);
    await app.as(admin).delete(`/api/tasks/${alone.task_id}`);
    expect((await app.as(manager).post(`/api/trash/task/${alone.task_id}/restore`, {})).status).toBe(200);
    await refused(automation, manager, admin);
    await world.task(admin, OLD);
    await app.as(admin).delete(`/api/projects/${world.project.project_id}`);
    expect((await app.as(manager).post(`/api/trash/project/${world.project.project_id}/restore`, {})).status).toBe(200);
    await refused(automation, manager, admin);
  });

  it('is of who set it by one of many changes at once, each of their own', async () => {
    const automation = await overdue();
    const tasks = await Promise.all(Array.from({ length: 8 }, (_, n) => world.task(world.other, { title: `${n}` })));
    await Promise.all(tasks.map((task, n) => world.patch(n % 2 === 0 ? manager : admin, task, OLD)));
    const rows = await db()('tasks').where({ team_id: world.team.team_id }).orderBy('title');
    expect(rows.map(({ due_set_by }) => due_set_by)).toEqual(
      rows.map((_row, n) => [n % 2 === 0 ? manager.user_id : admin.user_id]),
    );
    await db()('tasks').where({ team_id: world.team.team_id }).whereNot({ title: '0' }).update({ due_date: null });
    await refused(automation, manager);
  });

  it('is of who created it with others, or imported it, anew or over an existing task', async () => {
    const automation = await overdue();
    const made = await app.as(manager).post('/api/tasks/bulk', [{ ...world.project, title: 'One', ...OLD }]);
    expect(made.status).toBe(200);
    await refused(automation, manager);
    const { task_id } = await world.task(world.other, {});
    const existing = { entity: 'task', task_id, title: 'T', due_date: '2026-01-03' };
    const records = [{ entity: 'task', task_id: 'new', title: 'New', ...OLD }, existing];
    const job = await importText(app, app.as(manager), world.team, ndjson(records), { ...world.project, on_conflict: 'update' });
    expect(job).toMatchObject({ created: 1, updated: 1 });
    const rows = await db()('tasks').where({ title: 'New' }).orWhere({ task_id });
    expect(rows.map(({ due_set_by }) => due_set_by)).toEqual([[manager.user_id], [manager.user_id]]);
    await refused(automation, manager);
  });

  it('of a next occurrence belongs to the users who set the rule, moved the date and completed the last one', async () => {
    const automation = await overdue();
    const rule = (text: string) => ({ recurrence: { rule: text, mode: 'on_complete', timezone: 'UTC' } });
    const task = await world.task(member, { ...rule('FREQ=WEEKLY'), due_date: '2026-01-01' });
    const child = await world.task(member, { parent_task_id: task.task_id });
    await world.patch(admin, child, OLD);
    await world.patch(manager, task, rule('FREQ=DAILY'));
    await world.patch(admin, task, { due_date: '2026-01-02' });
    const helper = await buildPerson(app);
    await db()('memberships').insert({ team_id: world.team.team_id, user_id: helper.user_id, role: 'manager' });
    await world.patch(helper, task, { status: 'done' });
    await db()('tasks').whereIn('task_id', [task.task_id, child.task_id]).update({ status: 'done' });
    const { series_id } = await db()('tasks').where({ task_id: task.task_id }).first();
    expect(await advanceSeries(app.services, series_id)).toMatchObject({ made: true });
    const next = await db()('tasks').where({ recurrence_of: task.task_id }).first();
    const people = [member, manager, admin, helper].map(({ user_id }) => user_id).toSorted();
    expect(next.due_set_by.toSorted()).toEqual(people);
    const copy = await db()('tasks').where({ parent_task_id: next.task_id }).first();
    expect(copy.due_set_by.toSorted()).toEqual(people);
    await refused(automation, manager, admin, helper);
    // Whoever completed the one before has no part in the next one.
    await world.patch(world.other, next, { status: 'done' });
    expect(await advanceSeries(app.services, series_id)).toMatchObject({ made: true });
    const third = await db()('tasks').where({ recurrence_of: next.task_id }).first();
    expect(third.due_set_by.toSorted()).toEqual([member, manager, world.other].map(({ user_id }) => user_id).toSorted());
  });

  it('of an earlier version of the service, which stored no user, belongs to the task’s creator', async () => {
    const automation = await overdue();
    const task = await world.task(manager, { ...OLD, status: 'done' });
    await db()('tasks').where({ task_id: task.task_id }).update({ due_set_by: '{}' });
    await world.patch(admin, task, { status: 'todo' });
    await refused(automation, manager, admin);
  });
});

describe('a schedule', () => {
  const every = { schedule_cron: '* * * * *' };
  const off = { ...every, is_active: false };
  const scheduled = (fields: object) => world.gated('schedule', fields);
  /** One clock for all: a minute that begins meanwhile would give the same time twice. */
  const began = Math.floor(Date.now() / 60_000);
  let minutes = 0;
  const fires = async ({ automation_id }: { automation_id: string }) => {
    minutes = (minutes + 1) % 9;
    const minute = new Date((began - minutes) * 60_000).toISOString();
    expect(await fireSchedule(app.services, automation_id, minute)).toMatch(/^run /);
  };
  const toggle = async (person: Person, { automation_id }: { automation_id: string }, is_active: boolean) =>
    expect((await app.as(person).post(`/api/automations/${automation_id}/toggle`, { is_active })).status).toBe(200);
  const edit = async (person: Person, { automation_id }: { automation_id: string }, body: object) =>
    expect((await app.as(person).patch(`/api/automations/${automation_id}`, body)).status).toBe(200);

  it('belongs to the user who enabled it, also after another user renames it', async () => {
    const automation = await scheduled(off);
    await toggle(manager, automation, true);
    await edit(admin, automation, { name: 'Renamed', description: 'And told' });
    await fires(automation);
    await world.refuses(automation, manager);
  });

  it('is of who enabled it last, not of who did before', async () => {
    const automation = await scheduled(off);
    await toggle(manager, automation, true);
    await toggle(manager, automation, false);
    await toggle(admin, automation, true);
    await fires(automation);
    const run = await world.waiting(automation);
    expect([await world.approve(admin, run), await world.approve(manager, run)]).toEqual([403, 200]);
  });

  it('is also of who enabled it by an edit, changed its times, or took it over, after others wrote its actions', async () => {
    const automation = await scheduled(off);
    await edit(manager, automation, { is_active: true });
    await edit(admin, automation, { schedule_cron: '*/1 * * * *' });
    const tail = { type: 'create_task', params: { ...world.project, title: 'another' } };
    const { actions } = await db()('automations').where({ automation_id: automation.automation_id }).first();
    await edit(member, automation, { actions: [actions[0], tail] });
    await fires(automation);
    await world.refuses(automation, manager, admin);
    const heir = await buildPerson(app);
    await db()('memberships').insert({ team_id: world.team.team_id, user_id: heir.user_id, role: 'manager' });
    expect((await app.as(heir).post(`/api/automations/${automation.automation_id}/take-over`, {})).status).toBe(200);
    await fires(automation);
    await world.refuses(automation, manager, admin, heir);
  });

  it('is also of who restores its project from the trash', async () => {
    const automation = await scheduled({ ...every, ...world.project });
    await app.as(admin).delete(`/api/projects/${world.project.project_id}`);
    expect((await app.as(manager).post(`/api/trash/project/${world.project.project_id}/restore`, {})).status).toBe(200);
    await fires(automation);
    await world.refuses(automation, manager);
  });

  it('has no part in who may approve what an event started', async () => {
    const automation = await world.gated('task.created', { is_active: false });
    await toggle(manager, automation, true);
    await world.task(member, {});
    const run = await world.waiting(automation);
    expect(await world.approve(manager, run)).toBe(200);
  });

  it('of a personal automation belongs to its creator', async () => {
    const { member: loner } = await buildTeam(app);
    const body = { name: 'Own', trigger_type: 'schedule', ...every, actions: [] };
    const { automation_id } = (await app.as(loner).post('/api/automations', body)).body;
    expect(await db()('automations').where({ automation_id }).first()).toMatchObject({ enabled_by: [loner.user_id] });
  });
});
