import { createField, setFields, type TestField } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let severity: TestField;
const db = () => app.services.db;
const member = () => app.as(team.member);

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  severity = await createField(app, team, 'select', { key: 'severity' });
});

const tasks = async (titles: string[]) => {
  const made = [];
  for (const title of titles) made.push(await buildTask(app, team, project, { title }));
  return made;
};
const getTitles = ({ body }: { body: { title: string }[] }) => body.map(({ title }) => title);
const find = async (query: string, as = member()) => getTitles(await as.get(`/api/tasks?${query}`));

it('filters every list by the value of a field', async () => {
  const [a, b, c] = await tasks(['a', 'b', 'c']);
  await setFields(app, team, [
    { field: severity, task_id: a!.task_id, value: 'high' },
    { field: severity, task_id: b!.task_id, value: 'low' },
    { field: severity, task_id: c!.task_id, value: 'high' },
  ]);
  const filter = 'custom_field[severity]=high';
  expect(await find(filter)).toEqual(['a', 'c']);
  expect(await find(`${filter}&team_id=${team.team_id}`)).toEqual(['a', 'c']);
  expect(await find(`${filter}&project_id=${project.project_id}`)).toEqual(['a', 'c']);
  await member().patch(`/api/tasks/${c!.task_id}/status`, { status: 'done' });
  expect(await find(`${filter}&status=todo`)).toEqual(['a']);
  await member().delete(`/api/tasks/${a!.task_id}`);
  expect(await find(filter)).toEqual(['c']);
});

it('shows strangers nothing, whatever they filter by', async () => {
  const [a] = await tasks(['a']);
  await setFields(app, team, [{ field: severity, task_id: a!.task_id, value: 'high' }]);
  const other = await buildTeam(app);
  // The same key in the stranger's team, with the same value.
  await createField(app, other, 'select', { key: 'severity' });
  const filter = 'custom_field[severity]=high&include=custom_fields';
  expect(await find(filter, app.as(other.admin))).toEqual([]);
  expect(await find(`${filter}&team_id=${team.team_id}`, app.as(other.admin))).toEqual([]);
  expect((await app.as(other.admin).get(`/api/tasks?${filter}&project_id=${project.project_id}`)).status).toBe(403);
  expect((await member().get(`/api/tasks?${filter}&project_id=${team.team_id}`)).status).toBe(404);
});

it('never lists more than asked for: unknown keys, other spellings and impossible values match nothing', async () => {
  await tasks(['a']);
  const number = await createField(app, team, 'number', { key: 'points' });
  const [b] = await tasks(['b']);
  await setFields(app, team, [{ field: number, task_id: b!.task_id, value: 5 }]);
  for (const filter of [
    'nope]=1',
    'Severity]=high',
    ']=high',
    '__proto__]=x',
    'constructor]=x',
    'severity=high',
    'severity][x]=high',
  ])
    expect(await find(`custom_field[${filter}`)).toEqual([]);
  for (const value of ['', ' ', 'five', 'NaN', 'Infinity', '5x', '%00'])
    expect(await find(`custom_field[points]=${value}`)).toEqual([]);
  for (const value of ['5', '5.0', '5e0', '0x5']) expect(await find(`custom_field[points]=${value}`)).toEqual(['b']);
});

it('refuses filters that it cannot read', async () => {
  const status = async (query: string) => (await member().get(`/api/tasks?${query}`)).status;
  expect(await status('custom_field=severity')).toBe(422);
  expect(await status('custom_field=x&custom_field[severity]=high')).toBe(422);
  expect(await status(Array.from({ length: 51 }, (_, at) => `custom_field[severity]=${at}`).join('&'))).toBe(422);
  expect(await status(Array.from({ length: 11 }, (_, at) => `custom_field[k${at}]=x`).join('&'))).toBe(422);
  expect(await status('include=everything')).toBe(422);
});

it('reads each type in its own way, and combines filters', async () => {
  const [a, b] = await tasks(['a', 'b']);
  const text = await createField(app, team, 'text', { key: 'text' });
  const date = await createField(app, team, 'date', { key: 'day' });
  const flag = await createField(app, team, 'boolean', { key: 'flag' });
  const labels = await createField(app, team, 'multi_select', { key: 'labels' });
  const long = `${'x'.repeat(300)}`;
  await setFields(app, team, [
    { field: text, task_id: a!.task_id, value: long },
    { field: text, task_id: b!.task_id, value: `${long}y` },
    { field: date, task_id: a!.task_id, value: '2026-03-01' },
    { field: flag, task_id: a!.task_id, value: false },
    { field: flag, task_id: b!.task_id, value: true },
    { field: labels, task_id: a!.task_id, value: ['low', 'high'] },
    { field: labels, task_id: b!.task_id, value: ['low'] },
  ]);
  expect(await find(`custom_field[text]=${long}`)).toEqual(['a']);
  expect(await find('custom_field[day]=2026-03-01')).toEqual(['a']);
  expect(await find('custom_field[day]=2026-03-01T01:00:00Z')).toEqual(['a']);
  expect(await find('custom_field[flag]=true')).toEqual(['b']);
  expect(await find('custom_field[labels]=high')).toEqual(['a']);
  expect(await find('custom_field[labels]=low')).toEqual(['a', 'b']);
  expect(await find('custom_field[labels]=low&custom_field[flag]=true')).toEqual(['b']);
  expect(await find('custom_field[labels]=high&custom_field[flag]=true')).toEqual([]);
});

it('matches the same key in every team of the caller, of whatever type', async () => {
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const theirs = await createField(app, other, 'number', { key: 'severity' });
  const three = await createField(app, team, 'text', { key: 'size' });
  const five = await createField(app, other, 'number', { key: 'size' });
  const [a] = await tasks(['a']);
  const b = await buildTask(app, other, await buildProject(app, other), { title: 'b' });
  await setFields(app, team, [{ field: three, task_id: a!.task_id, value: '3' }]);
  await setFields(app, other, [
    { field: five, task_id: b.task_id, value: 3 },
    { field: theirs, task_id: b.task_id, value: 1 },
  ]);
  expect((await find('custom_field[size]=3')).sort()).toEqual(['a', 'b']);
  await db()('memberships').where({ team_id: other.team_id, user_id: team.member.user_id }).delete();
  expect(await find('custom_field[size]=3')).toEqual(['a']);
});

it('adds values to nested tasks, and a tag that changes with them', async () => {
  const [a] = await tasks(['a']);
  const child = await buildTask(app, team, project, { title: 'child', parent_task_id: a!.task_id });
  const points = await createField(app, team, 'number', { key: 'points' });
  const path = `/api/tasks?project_id=${project.project_id}&include=custom_fields`;
  const before = await member().get(path);
  expect(before.body).toMatchObject([{ custom_fields: {}, subtasks: [{ custom_fields: {} }] }]);
  await setFields(app, team, [
    { field: points, task_id: child.task_id, value: 2 },
    { field: severity, task_id: child.task_id, value: 'low' },
  ]);
  const headers = { 'If-None-Match': before.headers.get('etag') as string };
  const after = await member().get(path, undefined, { headers });
  expect(after.status).toBe(200);
  expect(after.body[0].subtasks[0].custom_fields).toEqual({ points: 2, severity: 'low' });
  const known = { 'If-None-Match': after.headers.get('etag') as string };
  expect((await member().get(path, undefined, { headers: known })).status).toBe(304);
  await setFields(app, team, [{ field: points, task_id: child.task_id, value: null }]);
  expect((await member().get(path, undefined, { headers: known })).status).toBe(200);
  // Without the option the list is as it was.
  const plain = await member().get(`/api/tasks?project_id=${project.project_id}`);
  expect(plain.body[0]).not.toHaveProperty('custom_fields');
  expect(await find('include=custom_fields')).toEqual(['a']);
});

it('streams a long list with its values, filtered and not', async () => {
  const points = await createField(app, team, 'number', { key: 'points' });
  const insert = /* sql */ `
    with keys as (insert into item_keys select 's' || n || :suffix, 'task' from generate_series(1, 1200) n)
    insert into tasks (task_id, project_id, team_id, title, created_by, position)
      select 's' || n || :suffix, :project_id, :team_id, 'Task ' || n, :user_id, n from generate_series(1, 1200) n`;
  const values = /* sql */ `
    insert into custom_field_values (field_id, entity_id, team_id, entity_type, field_type, key, value_number, updated_by)
      select :field_id, 's' || n || :suffix, :team_id, 'task', 'number', 'points', n % 2, :user_id from generate_series(1, 1200) n`;
  const given = {
    suffix: `-${team.team_id}`,
    project_id: project.project_id,
    team_id: team.team_id,
    user_id: team.admin.user_id,
    field_id: points.field_id,
  };
  await db().raw(insert, given);
  await db().raw(values, given);
  const all = await member().get(`/api/tasks?project_id=${project.project_id}&include=custom_fields`);
  expect(all.body.map((one: { custom_fields: unknown }) => one.custom_fields)).toEqual(
    Array.from({ length: 1200 }, (_, at) => ({ points: (at + 1) % 2 })),
  );
  await db()('custom_field_values').where({ field_id: points.field_id }).update({ value_number: 7 });
  const filtered = await member().get(`/api/tasks?team_id=${team.team_id}&custom_field[points]=7`);
  expect(getTitles(filtered)).toEqual(Array.from({ length: 1200 }, (_, at) => `Task ${at + 1}`));
});
