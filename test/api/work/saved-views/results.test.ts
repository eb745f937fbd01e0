import { resultsCall } from '../../../../api/work/saved-views/results/query.sql.js';
import { run } from '../../../../db/statement.js';
import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { rowsRead } from '../../../support/rows-read.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
const db = () => app.services.db;
const member = () => app.as(team.member);

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const save = async (view: object, as: Client = member()): Promise<string> => {
  const made = await as.post('/api/saved-views', { name: 'A view', entity_type: 'task', ...view });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.view_id as string;
};
const toResults = async (view: object, query = '', as: Client = member()) => {
  const answer = await as.get(`/api/saved-views/${await save(view, as)}/results${query}`);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body as Record<string, unknown>[];
};
const titles = async (view: object, query = '') => (await toResults(view, query)).map(({ title, name }) => title ?? name);
const task = (title: string, fields: object = {}) => buildTask(app, team, project, { title, ...fields });

describe('tasks', () => {
  let other: { project_id: string };
  beforeEach(async () => {
    other = await buildProject(app, team, { name: 'Hermes' });
    await task('a', {
      status: 'done',
      priority: 'low',
      tags: ['x', 'y'],
      due_date: '2026-03-01',
      assigned_to: team.member.user_id,
    });
    await task('b', { status: 'todo', priority: 'urgent', tags: ['y'], due_date: '2026-03-01T12:00:00Z' });
    await task('c', { status: 'in_review', priority: 'medium', due_date: '2026-03-02', assigned_to: team.admin.user_id });
    await buildTask(app, team, other, { title: 'd', status: 'in-progress', priority: 'high' });
  });

  it.each([
    [{}, ['a', 'b', 'c', 'd']],
    [{ status: [] }, ['a', 'b', 'c', 'd']],
    [{ status: ['todo', 'In-Progress'] }, ['b', 'd']],
    [{ priority: ['URGENT', 'low'] }, ['a', 'b']],
    [{ tags: ['x', 'z'] }, ['a']],
    [{ tags: ['y'], status: ['todo'] }, ['b']],
    [{ due_before: '2026-03-01' }, []],
    [{ due_before: '2026-03-02' }, ['a', 'b']],
    [{ due_before: '2026-03-01T12:00:00Z' }, ['a']],
    [{ due_after: '2026-03-01' }, ['c']],
    [{ due_after: '2026-03-01T11:59:00Z' }, ['b', 'c']],
    [{ assigned_to: ['nobody'] }, []],
    [{ q: 'c' }, ['c']],
  ])('filters by %j', async (filters, found) => {
    expect(await titles({ filters })).toEqual(found);
  });

  it('moves days with the calendar, in the time zone and the week of each viewer', async () => {
    const zoned = async (person: TestTeam['member'], timezone: string) => {
      const answer = await app.as(person).patch('/api/auth/me', { preferences: { timezone, week_start: 'sunday' } });
      expect(answer.status).toBe(200);
      return new Date(Date.now() + (timezone === 'Pacific/Kiritimati' ? 14 : -11) * 3_600_000);
    };
    const dayAfter = (moment: Date, days: number) => new Date(moment.getTime() + days * 86_400_000).toISOString().slice(0, 10);
    const [east, west] = [await zoned(team.member, 'Pacific/Kiritimati'), await zoned(team.admin, 'Pacific/Midway')];
    const days = await buildProject(app, team);
    const due = (title: string, due_date: string) => buildTask(app, team, days, { title, due_date });
    await due('old', dayAfter(west, -1));
    await due('west', dayAfter(west, 0));
    await due('east', dayAfter(east, 0));
    await due('last', dayAfter(east, 7));
    await due('far', dayAfter(east, 8));
    const seen = async (filters: object, as: Client) => {
      const view = { filters: { ...filters, project_id: [days.project_id] }, sort: [{ field: 'due_date' }] };
      return (await toResults(view, '', as)).map(({ title }) => title);
    };
    expect(await seen({ due: 'today' }, member())).toEqual(['east']);
    expect(await seen({ due: 'today' }, app.as(team.admin))).toEqual(['west']);
    expect(await seen({ due: 'overdue' }, member())).toEqual(['old', 'west']);
    expect(await seen({ due: 'overdue' }, app.as(team.admin))).toEqual(['old']);
    expect(await seen({ due: 'next_7' }, member())).toEqual(['east', 'last']);
    expect(await seen({ due: 'next_7', due_after: dayAfter(east, 1) }, member())).toEqual(['last']);
    expect((await seen({ due: 'week' }, member())).includes('east')).toBe(true);
    const wrong = await member().post('/api/saved-views', { name: 'Wrong', entity_type: 'task', filters: { due: 'someday' } });
    const foreign = await member().post('/api/saved-views', { name: 'Wrong', entity_type: 'project', filters: { due: 'today' } });
    expect([wrong.status, foreign.status]).toEqual([422, 422]);
  });

  it('keeps the plan of a text that is used often, for the values and the viewer of each use', async () => {
    const id = await save({
      filters: { status: ['todo'] },
      sort: [{ field: 'title', direction: 'desc' }],
      team_id: team.team_id,
      is_shared: true,
    });
    const seen = async (as: Client = member()) =>
      ((await as.get(`/api/saved-views/${id}/results`)).body as { title: string }[]).map(({ title }) => title);
    for (let use = 0; use < 30; use += 1) expect(await seen(use % 2 === 0 ? member() : app.as(team.guest))).toEqual(['b']);
    await member().patch(`/api/saved-views/${id}`, { filters: { status: ['done', 'in_review'] } });
    await task('e', { status: 'done' });
    expect(await seen()).toEqual(['e', 'c', 'a']);
    await db()('memberships').where({ team_id: team.team_id, user_id: team.guest.user_id }).delete();
    expect((await app.as(team.guest).get(`/api/saved-views/${id}/results`)).status).toBe(404);
  });

  it('filters by person and project, and combines filters', async () => {
    expect(await titles({ filters: { assigned_to: [team.member.user_id, team.admin.user_id] } })).toEqual(['a', 'c']);
    const mine = await save({ filters: { assigned_to: ['me'] }, team_id: team.team_id, is_shared: true });
    const seenBy = async (as: Client) => (await as.get(`/api/saved-views/${mine}/results`)).body as { title: string }[];
    expect([await seenBy(member()), await seenBy(app.as(team.admin))]).toMatchObject([[{ title: 'a' }], [{ title: 'c' }]]);
    expect(await titles({ filters: { project_id: [other.project_id] } })).toEqual(['d']);
    expect(await titles({ filters: { q: 'd', project_id: [project.project_id] } })).toEqual([]);
  });

  it('a task without a priority stands below all others, is found by it, and others are found without it', async () => {
    await task('e', { priority: 'NONE' });
    const sort = [{ field: 'priority', direction: 'desc' }];
    expect(await titles({ sort })).toEqual(['b', 'd', 'c', 'a', 'e']);
    expect(await titles({ filters: { priority: ['none'] } })).toEqual(['e']);
    expect(await titles({ filters: { not_priority: ['none'] }, sort })).toEqual(['b', 'd', 'c', 'a']);
  });

  it.each([
    [[{ field: 'priority', direction: 'desc' }], ['b', 'd', 'c', 'a']],
    [[{ field: 'status' }], ['b', 'd', 'c', 'a']],
    [[{ field: 'due_date', direction: 'asc' }], ['a', 'b', 'c', 'd']],
    [[{ field: 'due_date', direction: 'desc' }], ['c', 'b', 'a', 'd']],
    [[{ field: 'title', direction: 'desc' }], ['d', 'c', 'b', 'a']],
    [
      [{ field: 'completed_at' }, { field: 'title', direction: 'desc' }],
      ['a', 'd', 'c', 'b'],
    ],
  ])('sorts by %j, null last', async (sort, found) => {
    expect(await titles({ sort })).toEqual(found);
  });

  it('pages through the results, by group first, and counts the groups', async () => {
    const view = { group_by: 'status', sort: [{ field: 'title', direction: 'desc' }] };
    await task('e');
    expect(await titles(view)).toEqual(['e', 'b', 'd', 'c', 'a']);
    const id = await save(view);
    const pages = [];
    for (let path: string | undefined = `/api/saved-views/${id}/results?limit=2`; path; ) {
      const page = await member().get(path);
      pages.push(page.body.map(({ title }: { title: string }) => title));
      path = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      if (!path) expect(page.headers.get('x-total-count')).toBe('5');
    }
    expect(pages).toEqual([['e', 'b'], ['d', 'c'], ['a']]);
    expect((await member().get(`/api/saved-views/${id}/groups`)).body).toEqual([
      { key: 'todo', count: 2 },
      { key: 'in_progress', count: 1 },
      { key: 'in_review', count: 1 },
      { key: 'done', count: 1 },
    ]);
    const people = await member().get(`/api/saved-views/${await save({ group_by: 'assigned_to' })}/groups`);
    expect(people.body.at(-1)).toEqual({ key: null, count: 3 });
    expect((await member().get(`/api/saved-views/${await save({})}/groups`)).status).toBe(400);
    expect((await member().get(`/api/saved-views/${id}/results?offset=99999`)).body).toEqual([]);
  });

  it('answers flat records of tasks, as the list has them, with their custom fields', async () => {
    await member().patch(`/api/tasks/${(await task('child')).task_id}`, { parent_task_id: (await task('parent')).task_id });
    const found = await toResults({ filters: { q: 'child' } });
    expect(found).toHaveLength(1);
    const [listed] = (await member().get('/api/tasks/my')).body;
    expect(Object.keys(found[0]!).filter((key) => key !== 'custom_fields')).toEqual(Object.keys(listed));
    expect(found[0]).toMatchObject({ title: 'child', custom_fields: {} });
  });
});

it('filters, sorts and groups by custom fields', async () => {
  const points = await createField(app, team, 'number', { key: 'points' });
  const severity = await createField(app, team, 'select', { key: 'severity' });
  const labels = await createField(app, team, 'multi_select', { key: 'labels' });
  const [a, b, c] = [await task('a'), await task('b'), await task('c')];
  await setFields(app, team, [
    { field: points, task_id: a.task_id, value: 10 },
    { field: points, task_id: b.task_id, value: 9 },
    { field: severity, task_id: a.task_id, value: 'high' },
    { field: severity, task_id: c.task_id, value: 'low' },
    { field: labels, task_id: a.task_id, value: ['high', 'low'] },
    { field: labels, task_id: b.task_id, value: ['low'] },
  ]);
  const by = (custom_fields: object) => titles({ filters: { custom_fields } });
  expect(await by({ points: [9, '10'] })).toEqual(['a', 'b']);
  expect(await by({ points: [11] })).toEqual([]);
  expect(await by({ severity: ['high', 'low'], points: [10] })).toEqual(['a']);
  expect(await by({ labels: ['high', 'low'] })).toEqual(['a', 'b']);
  expect(await by({ nothing: ['high'] })).toEqual([]);
  expect(await by({ nothing: [] })).toEqual(['a', 'b', 'c']);
  expect(await titles({ filters: { q: 'b', custom_fields: { labels: ['low'] } } })).toEqual(['b']);
  expect(await titles({ sort: [{ field: 'custom_field:points', direction: 'asc' }] })).toEqual(['b', 'a', 'c']);
  expect(await titles({ sort: [{ field: 'custom_field:points', direction: 'desc' }] })).toEqual(['a', 'b', 'c']);
  expect(await titles({ sort: [{ field: 'custom_field:gone' }, { field: 'title', direction: 'desc' }] })).toEqual([
    'c',
    'b',
    'a',
  ]);
  const grouped = { group_by: 'custom_field:severity', sort: [{ field: 'title' }] };
  expect(await titles(grouped)).toEqual(['a', 'c', 'b']);
  expect((await member().get(`/api/saved-views/${await save(grouped)}/groups`)).body).toEqual([
    { key: 'high', count: 1 },
    { key: 'low', count: 1 },
    { key: null, count: 1 },
  ]);
  const lists = await member().get(`/api/saved-views/${await save({ group_by: 'custom_field:labels' })}/groups`);
  expect(lists.body.map(({ key }: { key: string }) => key)).toEqual(['high, low', 'low', null]);
});

it('shows projects and work items', async () => {
  await buildProject(app, team, { name: 'Zeus', status: 'archived' });
  const budget = await createField(app, team, 'number', { key: 'budget', entity_type: 'project' });
  const value = { field_id: budget.field_id, entity_type: 'project', entity_id: project.project_id, value: 5 };
  await member().put('/api/custom-fields/values', value);
  const projects = { entity_type: 'project', sort: [{ field: 'name', direction: 'desc' }] };
  expect(await titles(projects)).toEqual(['Zeus', 'Apollo']);
  expect(await titles({ ...projects, filters: { status: ['active'] } })).toEqual(['Apollo']);
  const [found] = await toResults({ ...projects, filters: { custom_fields: { budget: [5] } } });
  expect(found).toMatchObject({ name: 'Apollo', custom_fields: { budget: 5 } });
  await task('t');
  await member().post('/api/notes', { title: 'n', team_id: team.team_id });
  const items = { entity_type: 'work_item', group_by: 'type', sort: [{ field: 'title' }] };
  expect(await titles(items)).toEqual(['n', 'Apollo', 'Zeus', 't']);
  expect(await titles({ ...items, filters: { project_id: [project.project_id] } })).toEqual(['Apollo', 't']);
  const groups = await member().get(`/api/saved-views/${await save(items)}/groups`);
  expect(groups.body).toEqual([
    { key: 'note', count: 1 },
    { key: 'project', count: 2 },
    { key: 'task', count: 1 },
  ]);
  expect(await titles({ entity_type: 'work_item', filters: { q: 'n' } })).toEqual(['n']);
});

it('shows a viewer of a shared view never more than they may read', async () => {
  const secret = await buildTeam(app);
  const theirs = await buildProject(app, secret);
  await buildTask(app, secret, theirs, { title: 'secret' });
  await db()('memberships').insert({ team_id: secret.team_id, user_id: team.member.user_id, role: 'member' });
  await task('open');
  // Not limited to a team: the owner sees both teams.
  const wide = await save({});
  expect((await member().get(`/api/saved-views/${wide}/results`)).body).toHaveLength(2);
  const filters = { project_id: [project.project_id, theirs.project_id] };
  const shared = await save({ team_id: team.team_id, is_shared: true, filters, group_by: 'project_id' });
  for (const person of [team.guest, team.admin, team.member]) {
    const answer = await app.as(person).get(`/api/saved-views/${shared}/results`);
    expect(answer.body.map(({ title }: { title: string }) => title)).toEqual(['open']);
    const groups = await app.as(person).get(`/api/saved-views/${shared}/groups`);
    expect(groups.body).toEqual([{ key: project.project_id, count: 1 }]);
  }
  expect((await app.as(secret.admin).get(`/api/saved-views/${shared}/results`)).status).toBe(404);
  // Membership ends: the owner's wide view shows what is left.
  await db()('memberships').where({ team_id: secret.team_id, user_id: team.member.user_id }).delete();
  expect((await member().get(`/api/saved-views/${wide}/results`)).body).toHaveLength(1);
  await member().delete(`/api/projects/${project.project_id}`);
  expect((await member().get(`/api/saved-views/${wide}/results`)).body).toEqual([]);
});

it('checks stored filters again before it uses them', async () => {
  const id = await save({ filters: { status: ['todo'] } });
  await db()('saved_views')
    .where({ view_id: id })
    .update({ filters: JSON.stringify({ status: ["x' or true"] }) });
  expect((await member().get(`/api/saved-views/${id}/results`)).status).toBe(409);
  await db()('saved_views')
    .where({ view_id: id })
    .update({ filters: '{}', sort: JSON.stringify([{ field: 'w.secret', direction: 'asc' }]) });
  expect((await member().get(`/api/saved-views/${id}/results`)).status).toBe(409);
});

it('reads the first by due date, and those before a day, without the other tasks of the team', async () => {
  await db().raw(
    `with keys as (insert into item_keys (item_id, item_type) select uuidv7()::text, 'task' from generate_series(1, 3000) returning item_id)
      insert into tasks (task_id, project_id, team_id, title, created_by, due_date)
      select item_id, ?, ?, 'x', ?, case when random() < 0.6 then to_char(now() + random() * interval '300 days', 'YYYY-MM-DD') end from keys`,
    [project.project_id, team.team_id, team.admin.user_id],
  );
  await db().raw('analyze tasks, memberships');
  const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const sort = [{ field: { name: 'due_date' }, direction: 'asc' as const }];
  for (const due_before of [undefined, day]) {
    const { statement, values } = resultsCall(
      {
        entity: 'task',
        userId: team.member.user_id,
        roles: ['member'],
        teamId: team.team_id,
        filters: { due_before },
        fieldFilters: [],
        notFieldFilters: [],
        found: null,
        sort,
        group: null,
      },
      { maxBytes: 1e9, limit: 20, offset: 0 },
    );
    expect(await rowsRead(db(), 'tasks', (trx) => run(trx, statement, values))).toBeLessThan(200);
  }
});
