import { filteredCall } from '../../../../api/work/tasks/read/list-filtered-tasks.sql.js';
import { createCycle } from '../cycles/support.js';
import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import { explain, nodesOf } from '../../../support/plans.js';
import { plantTasks, taskWorld } from './world.js';

// Filters of GET /api/tasks with several values, and those that leave them out.

const world = taskWorld();

const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const ROLES = ['guest', 'member', 'manager', 'admin'];
const db = () => world.app.services.db;
const find = async (query: string, as = world.member): Promise<string> => {
  const { status, body } = await as.get(`/api/tasks?${query}`);
  return status === 200 ? (body as { title: string }[]).map(({ title }) => title).join(' ') : String(status);
};

it('finds any of the values, and leaves out what has one of them; a task without a value has none', async () => {
  const { member, admin, manager } = world.team;
  const cycle = await createCycle(world.app.as(manager), { team_id: world.team.team_id, name: 'Spring' });
  const a = await world.make({ title: 'a', assigned_to: member.user_id, priority: 'urgent', tags: ['ui', 'x,y'] });
  await world.make({ title: 'b', assigned_to: admin.user_id, priority: 'high', tags: ['!ui'], due_date: '2026-12-01' });
  const c = await world.make({ title: 'c', status: 'done', priority: 'low' });
  await db()('tasks').where({ task_id: a.task_id }).update({ cycle_id: cycle.cycle_id });
  await db()('tasks').where({ task_id: c.task_id }).update({ created_by: admin.user_id, resolution: 'canceled' });
  const expected: Record<string, string> = {
    'status=todo&status=done': 'a b c',
    'status=TODO&status=in-progress': 'a b',
    'not_status=todo': 'c',
    'not_status=done&not_status=in_review': 'a b',
    'status=todo&not_status=todo': '',
    'not_resolution=canceled': 'a b',
    'priority=urgent&priority=LOW': 'a c',
    'not_priority=urgent&not_priority=low': 'b',
    [`assigned_to=me&assigned_to=${admin.user_id}`]: 'a b',
    'assigned_to=none': 'c',
    'assigned_to=none&assigned_to=me': 'a c',
    'not_assigned_to=me': 'b c',
    'not_assigned_to=none': 'a b',
    'not_assigned_to=none&not_assigned_to=me': 'b',
    'created_by=me&not_assigned_to=me': await find('created_by=me&not_assigned_to=me'),
    [`created_by=${admin.user_id}`]: await find(`created_by=${admin.user_id}&limit=10`),
    [`cycle_id=${cycle.cycle_id as string}`]: 'a',
    'cycle_id=none': 'b c',
    [`cycle_id=none&cycle_id=${cycle.cycle_id as string}`]: 'a b c',
    [`not_cycle_id=${cycle.cycle_id as string}`]: 'b c',
    'not_cycle_id=none': 'a',
    'due=none': 'a c',
    'tag=ui&tag=!ui': 'a b',
    'tag=x,y': 'a',
    'tag=!ui': 'b',
    'not_tag=ui': 'b c',
    'not_tag=ui&not_tag=!ui': 'c',
  };
  const { project_id } = world.project;
  for (const [query, titles] of Object.entries(expected)) {
    for (const place of ['', `project_id=${project_id}&`, `team_id=${world.team.team_id}&`]) {
      expect([place, query, await find(place + query)]).toEqual([place, query, titles]);
    }
  }
});

it('422 names what is wrong, whether the value stands alone or among others, and how many values there may be', async () => {
  const refused = async (query: string) => {
    const { status, body } = await world.member.get(`/api/tasks?${query}`);
    return [status, body.detail?.errors?.[0]?.field, body.detail?.errors?.[0]?.message];
  };
  expect(await refused('status=later')).toEqual([422, 'query.status', expect.stringMatching(/todo.*done/)]);
  expect(await refused('status=todo&status=later')).toEqual([422, 'query.status.1', expect.stringMatching(/todo.*done/)]);
  expect(await refused('not_priority=high&not_priority=')).toEqual([
    422,
    'query.not_priority.1',
    expect.stringMatching(/low.*urgent/),
  ]);
  expect(await refused('not_assigned_to=max')).toEqual([422, 'query.not_assigned_to', expect.stringContaining('`none`')]);
  expect(await refused('created_by=none')).toEqual([422, 'query.created_by', expect.stringContaining('`me`')]);
  expect((await refused('due=today'))[0]).toBe(422);
  expect(await refused(Array.from({ length: 51 }, (_, at) => `tag=t${at}`).join('&'))).toEqual([
    422,
    'query.tag',
    expect.stringContaining('at most 50'),
  ]);
  expect((await refused(Array.from({ length: 50 }, (_, at) => `tag=t${at}`).join('&')))[0]).toBe(200);
  const many = Array.from({ length: 51 }, (_, at) => `not_custom_field[k]=${at}`).join('&');
  expect(await refused(many)).toEqual([422, 'query.not_custom_field', expect.stringContaining('at most 50')]);
  for (const query of [
    'tag=a&tag=%00',
    'tag=a&tag=',
    `tag=a&tag=${'x'.repeat(51)}`,
    'status[]=todo&status=',
    'custom_field=a&custom_field=b',
    'limit=1&limit=2',
    'team_id=a&team_id=b',
  ]) {
    expect([query, (await refused(query))[0]]).toEqual([query, 422]);
  }
});

it('of several projects and cycles finds those that the caller may read, and says nothing of the others', async () => {
  const other = await buildTeam(world.app);
  const theirs = await buildProject(world.app, other);
  await buildTask(world.app, other, theirs, { title: 'theirs' });
  const second = await buildProject(world.app, world.team);
  await world.make({ title: 'a' });
  await buildTask(world.app, world.team, second, { title: 'b' });
  const [mine, foreign] = [world.project.project_id, theirs.project_id];
  expect(await find(`project_id=${foreign}`)).toBe('403');
  expect(await find(`project_id=${UNKNOWN}`)).toBe('404');
  for (const id of [foreign, UNKNOWN, 'nonsense']) {
    expect(await find(`project_id=${mine}&project_id=${id}`)).toBe('a');
    expect(await find(`project_id=${mine}&project_id=${mine}&project_id=${second.project_id}&project_id=${id}`)).toBe('a b');
    expect(await find(`not_project_id=${id}`)).toBe('a b');
    expect(await find(`cycle_id=none&cycle_id=${id}`)).toBe('a b');
    expect(await find(`assigned_to=none&assigned_to=${other.member.user_id}`)).toBe('a b');
  }
  expect(await find(`not_project_id=${mine}`)).toBe('b');
  expect(await find(`project_id=${mine}&project_id=${second.project_id}&not_project_id=${mine}`)).toBe('b');
  expect(await find(`not_project_id=${UNKNOWN}`, world.app.as(other.member))).toBe('theirs');
});

it('takes several values of a custom field, and leaves them out', async () => {
  const severity = await createField(world.app, world.team, 'select', { key: 'severity' });
  const points = await createField(world.app, world.team, 'number', { key: 'points' });
  const [a, b] = [await world.make({ title: 'a' }), await world.make({ title: 'b' }), await world.make({ title: 'c' })];
  await setFields(world.app, world.team, [
    { field: severity, task_id: a.task_id, value: 'high' },
    { field: severity, task_id: b.task_id, value: 'low' },
    { field: points, task_id: a.task_id, value: 3 },
  ]);
  expect(await find('custom_field[severity]=high&custom_field[severity]=low')).toBe('a b');
  expect(await find('custom_field[severity]=high&custom_field[severity]=low&custom_field[points]=3&custom_field[points]=x')).toBe(
    'a',
  );
  expect(await find('not_custom_field[severity]=high')).toBe('b c');
  expect(await find('not_custom_field[severity]=high&not_custom_field[severity]=low')).toBe('c');
  expect(await find('custom_field[severity]=low&not_custom_field[points]=3')).toBe('b');
  expect(await find('not_custom_field[nope]=1')).toBe('a b c');
  expect(await find('not_custom_field[points]=nonsense')).toBe('a b c');
  expect(await find('not_custom_field[severity]=high', world.app.as((await buildTeam(world.app)).member))).toBe('');
});

it('keeps the pages and the tag of a list whose filter has several values', async () => {
  for (const title of ['a', 'b', 'c']) await world.make({ title, priority: title === 'b' ? 'low' : 'high' });
  const path = `/api/tasks?project_id=${world.project.project_id}&priority=high&priority=urgent&limit=1`;
  const first = await world.member.get(path);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] as string;
  const second = await world.member.get(next);
  expect([first, second].map(({ body }) => body[0].title)).toEqual(['a', 'c']);
  expect(second.headers.get('link')).not.toContain('rel="next"');
  const headers = { 'If-None-Match': first.headers.get('etag') as string };
  expect((await world.member.get(path, undefined, { headers })).status).toBe(304);
});

it('reads no task of another team, whatever several people, projects or cycles it asks for', async () => {
  const other = await buildTeam(world.app);
  const theirs = await buildProject(world.app, other);
  await plantTasks(world, 600);
  await plantTasks({ ...world, team: { ...other, member: other.admin }, project: theirs }, 150);
  await db()('tasks').where({ team_id: other.team_id }).update({ assigned_to: other.admin.user_id });
  await db().raw('analyze tasks');
  const ids = [other.admin.user_id, UNKNOWN];
  const lists: Record<string, string[]>[] = [
    { assigned_to: ids },
    { assigned_to: [...ids, 'none'] },
    { created_by: ids },
    { cycle_id: ids },
    { project_id: [theirs.project_id, UNKNOWN] },
    { not_assigned_to: ids, not_project_id: [theirs.project_id] },
  ];
  for (const filters of lists) {
    const narrowing = { filters, fields: [], notFields: [], after: null, maxRows: 100 };
    const { statement, values } = filteredCall('visible', [world.team.member.user_id, null, ROLES], narrowing, 'records', false);
    const plan = await explain(world.app.database.url, {
      name: Object.keys(filters).join('_'),
      text: statement.text,
      values,
    });
    // Each index that is read is entered by a team, or by a project of one of the caller's teams.
    const conditions = nodesOf(plan)
      .filter((node) => node['Index Name']?.startsWith('tasks_'))
      .map((node) => JSON.stringify(node));
    expect([filters, conditions]).toEqual([
      filters,
      [expect.stringMatching(/"Index Cond":"\(+(t\.)?(team_id = m\.team_id|project_id = p\.project_id)\b/)],
    ]);
    const isScanned = nodesOf(plan).some((node) => node['Relation Name'] === 'tasks' && node['Node Type'] === 'Seq Scan');
    expect([filters, isScanned]).toEqual([filters, false]);
  }
});

it('a saved view with the same filters finds the same tasks, and refuses values that are none', async () => {
  const { member, admin, team_id } = world.team;
  const severity = await createField(world.app, world.team, 'select', { key: 'severity' });
  const a = await world.make({ title: 'a', assigned_to: member.user_id, priority: 'high', tags: ['ui'] });
  await world.make({ title: 'b', assigned_to: admin.user_id, due_date: '2026-12-01' });
  await world.make({ title: 'c', status: 'done' });
  await setFields(world.app, world.team, [{ field: severity, task_id: a.task_id, value: 'high' }]);
  const view = (filters: unknown) => world.member.post('/api/saved-views', { name: 'v', entity_type: 'task', team_id, filters });
  const same: [query: string, filters: unknown][] = [
    ['not_status=done', { not_status: ['done'] }],
    ['not_assigned_to=none', { not_assigned_to: ['none'] }],
    ['not_assigned_to=me&status=todo&status=done', { not_assigned_to: ['me'], status: ['todo', 'done'] }],
    ['not_priority=high&not_tag=ui', { not_priority: ['high'], not_tags: ['ui'] }],
    ['due=none', { due: 'none' }],
    ['not_cycle_id=none', { not_cycle_id: ['none'] }],
    ['not_created_by=me', { not_created_by: ['me'] }],
    [`not_project_id=${world.project.project_id}`, { not_project_id: [world.project.project_id] }],
    ['not_custom_field[severity]=high', { not_custom_fields: { severity: ['high'] } }],
    ['custom_field[severity]=high&custom_field[severity]=low', { custom_fields: { severity: ['high', 'low'] } }],
  ];
  for (const [query, filters] of same) {
    const { view_id } = (await view(filters)).body as unknown as { view_id: string };
    const { body } = await world.member.get(`/api/saved-views/${view_id}/results`);
    const titles = (body as unknown as { title: string }[]).map(({ title }) => title).toSorted();
    expect([filters, titles.join(' ')]).toEqual([filters, await find(query)]);
  }
  const many = Array.from({ length: 51 }, () => 'x');
  for (const filters of [
    { not_status: ['later'] },
    { not_priority: ['later'] },
    { not_tags: many },
    { not_custom_fields: { severity: many.slice(25), other: many.slice(25) } },
    { not_due: ['none'], not_status: 'done' },
  ]) {
    expect([filters, (await view(filters)).status]).toEqual([filters, 422]);
  }
});
