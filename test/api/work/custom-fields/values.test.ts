import { createField, type TestField } from '../../../factories/custom-fields.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import type { FieldType } from '../../../../api/work/custom-fields/rules.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string; version: number };
const db = () => app.services.db;
const member = () => app.as(team.member);
const put = (body: unknown, as = member()) => as.put('/api/custom-fields/values', body);
const getValue = (field: TestField, value: unknown, entity_id = task.task_id) => ({
  field_id: field.field_id,
  entity_type: 'task',
  entity_id,
  value,
});
const list = (as = member()) => as.get(`/api/custom-fields/values?entity_type=task&entity_id=${task.task_id}`);

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project);
});

const VALUES: [FieldType, unknown, unknown][] = [
  ['text', ' two\nlines 😀 ', ' two\nlines 😀 '],
  ['number', -1.5e300, -1.5e300],
  ['number', 0, 0],
  ['date', '2026-02-28', '2026-02-28'],
  ['date', '2026-02-28T23:30:00-02:00', '2026-03-01'],
  ['boolean', false, false],
  ['select', 'high', 'high'],
  ['multi_select', ['low', 'high', 'low'], ['low', 'high']],
  ['url', 'https://example.com/a?b=c', 'https://example.com/a?b=c'],
];
it.each(VALUES)('stores a %s %j', async (type, given, stored) => {
  const field = await createField(app, team, type);
  const answer = await put(getValue(field, given));
  expect(answer.status).toBe(200);
  const record = {
    value_id: expect.any(String),
    field_id: field.field_id,
    key: field.key,
    entity_type: 'task',
    entity_id: task.task_id,
    value: stored,
    updated_by: team.member.user_id,
    updated_at: expect.any(String),
  };
  expect(answer.body).toEqual(record);
  expect((await list()).body).toEqual([answer.body]);
  const listed = await member().get(`/api/tasks?project_id=${project.project_id}&include=custom_fields`);
  expect(listed.body[0].custom_fields).toEqual({ [field.key]: stored });
});

it('includes the values in one task and its subtasks, and a tag that changes with them', async () => {
  const field = await createField(app, team, 'number');
  const below = await buildTask(app, team, project, { parent_task_id: task.task_id });
  const path = `/api/tasks/${task.task_id}?include=custom_fields`;
  await put(getValue(field, 1));
  await put(getValue(field, 2, below.task_id));
  const first = await member().get(path);
  expect(first.body).toMatchObject({ custom_fields: { [field.key]: 1 }, subtasks: [{ custom_fields: { [field.key]: 2 } }] });
  expect(first.headers.get('x-ignored-fields')).toBeNull();
  const tag = first.headers.get('etag') as string;
  expect((await member().get(path, undefined, { headers: { 'if-none-match': tag } })).status).toBe(304);
  await put(getValue(field, 3, below.task_id));
  expect((await member().get(path, undefined, { headers: { 'if-none-match': tag } })).body.subtasks[0].custom_fields).toEqual({
    [field.key]: 3,
  });
  // The tag still names the version for a change of the task.
  const changed = await member().patch(`/api/tasks/${task.task_id}`, { title: 'x' }, { headers: { 'if-match': tag } });
  expect(changed.status).toBe(200);
  const plain = await member().get(`/api/tasks/${task.task_id}`);
  expect(plain.body.custom_fields).toBeUndefined();
  const bare = await buildTask(app, team, project, { title: '},"cycle_id":7', description: ',"cycle_id":"x"' });
  const listed = await member().get(`/api/tasks?project_id=${project.project_id}&include=custom_fields`);
  expect(listed.body.find(({ task_id }: { task_id: string }) => task_id === bare.task_id)).toMatchObject({
    title: '},"cycle_id":7',
    cycle_id: null,
    custom_fields: {},
  });
  expect((await member().get(`/api/tasks/${bare.task_id}?include=custom_fields`)).body.custom_fields).toEqual({});
  expect((await member().get(`/api/tasks/${bare.task_id}?include=comments`)).status).toBe(422);
});

const MISFITS: [FieldType, unknown][] = [
  ['text', 3],
  ['text', ''],
  ['text', 'x'.repeat(2_001)],
  ['text', 'a\0b'],
  ['text', { a: 1 }],
  ['number', '3'],
  ['number', true],
  ['date', '2026-02-30'],
  ['date', 'tomorrow'],
  ['date', '10000-01-01'],
  ['boolean', 'true'],
  ['boolean', 1],
  ['select', 'medium'],
  ['select', ['high']],
  ['multi_select', 'high'],
  ['multi_select', []],
  ['multi_select', ['high', 'medium']],
  ['url', 'javascript:alert(1)'],
  ['url', 'https://'],
  ['url', 'https://a b'],
  ['user', 7],
];
it.each(MISFITS)('refuses a %s %j', async (type, value) => {
  const field = await createField(app, team, type);
  const answer = await put([getValue(field, value)]);
  expect(answer.status).toBe(422);
  expect(answer.body.detail.errors[0].field).toMatch(/^body\.0\.value/);
  expect((await list()).body).toEqual([]);
});

it('takes members of the team alone as users', async () => {
  const field = await createField(app, team, 'user');
  const stranger = await buildPerson(app);
  expect((await put(getValue(field, team.guest.user_id))).body.value).toBe(team.guest.user_id);
  for (const id of [stranger.user_id, 'nobody', team.admin.user_id.toUpperCase()]) {
    const refused = await put(getValue(field, id));
    expect([refused.status, refused.body.error_code]).toEqual([400, 'INVALID_REQUEST']);
  }
});

it('checks the types in the database too', async () => {
  const field = await createField(app, team, 'number');
  const row = {
    field_id: field.field_id,
    entity_id: task.task_id,
    team_id: team.team_id,
    entity_type: 'task',
    field_type: 'number',
    key: field.key,
    updated_by: team.admin.user_id,
  };
  const insert = (more: object) => db()('custom_field_values').insert({ ...row, ...more });
  await expect(insert({ value_text: '3' })).rejects.toThrow(/check constraint/);
  await expect(insert({})).rejects.toThrow(/check constraint/);
  await expect(insert({ value_number: 'NaN' })).rejects.toThrow(/check constraint/);
  await expect(insert({ value_number: 3, value_text: '3' })).rejects.toThrow(/check constraint/);
  await expect(insert({ field_type: 'text', value_text: '3' })).rejects.toThrow(/foreign key/);
  await expect(insert({ key: 'other', value_number: 3 })).rejects.toThrow(/foreign key/);
  await insert({ value_number: 3 });
});

it('sets many values at once, all or none, and answers in their order', async () => {
  const number = await createField(app, team, 'number');
  const text = await createField(app, team, 'text');
  const other = await buildTask(app, team, project);
  await put(getValue(number, 1));
  const body = [
    getValue(text, 'b', other.task_id),
    getValue(number, null),
    getValue(text, 'a'),
    getValue(number, 2, other.task_id),
  ];
  const answer = await put(body);
  expect(answer.body.map((one: { value: unknown }) => one.value)).toEqual(['b', null, 'a', 2]);
  expect(answer.body[1]).toMatchObject({ value_id: null, key: number.key });
  const half = await put([getValue(text, 'changed'), getValue(number, 'not a number')]);
  expect(half.status).toBe(422);
  expect(half.body.detail.errors[0].field).toBe('body.1.value');
  expect((await list()).body.map((one: { value: unknown }) => one.value)).toEqual(['a']);
});

it('refuses the same value twice, none, and more than 100', async () => {
  const field = await createField(app, team, 'number');
  const twice = await put([getValue(field, 1), getValue(field, 2)]);
  expect([twice.status, twice.body.detail.errors[0].field]).toEqual([422, 'body.1.field_id']);
  expect((await put([])).status).toBe(422);
  expect((await put(Array.from({ length: 101 }, (_, at) => getValue(field, at, `t${at}`)))).status).toBe(422);
  expect((await put(7)).status).toBe(422);
  expect((await put({ field_id: field.field_id })).body.detail.errors.map((one: { field: string }) => one.field)).toEqual([
    'body.entity_type',
    'body.entity_id',
    'body.value',
  ]);
});

it('names unknown fields of one value and of a list', async () => {
  const field = await createField(app, team, 'number');
  const one = await put({ ...getValue(field, 1), valeu: 2 });
  expect(one.headers.get('x-ignored-fields')).toBe('body.valeu');
  const many = await put([{ ...getValue(field, 2), valeu: 2 }]);
  expect(many.headers.get('x-ignored-fields')).toBe('body.0.valeu');
});

it('keeps a required value, and creates tasks without it', async () => {
  const field = await createField(app, team, 'number', { required: true });
  await put(getValue(field, 1));
  expect((await put(getValue(field, null))).status).toBe(422);
  expect((await buildTask(app, team, project)).task_id).toBeTruthy();
});

it('refuses items of another team, the other type, and the trash', async () => {
  const field = await createField(app, team, 'number');
  const other = await buildTeam(app);
  const theirs = await buildTask(app, other, await buildProject(app, other));
  expect((await put(getValue(field, 1, theirs.task_id))).status).toBe(400);
  expect((await put(getValue(field, 1, project.project_id))).status).toBe(404);
  const asProject = { ...getValue(field, 1, project.project_id), entity_type: 'project' };
  expect((await put(asProject)).status).toBe(422);
  await member().delete(`/api/tasks/${task.task_id}`);
  expect((await put(getValue(field, 1))).status).toBe(404);
});

it('sets values of projects', async () => {
  const field = await createField(app, team, 'number', { entity_type: 'project' });
  const body = { ...getValue(field, 12.5, project.project_id), entity_type: 'project' };
  expect((await put(body)).body).toMatchObject({ value: 12.5, entity_type: 'project' });
  const listed = await member().get(`/api/custom-fields/values?entity_type=project&entity_id=${project.project_id}`);
  expect(listed.body).toHaveLength(1);
  expect((await member().get(`/api/custom-fields/values?entity_type=task&entity_id=${project.project_id}`)).status).toBe(404);
});

it('reads the values of an archived field, and sets none', async () => {
  const field = await createField(app, team, 'number');
  await put(getValue(field, 1));
  await app.as(team.manager).patch(`/api/custom-fields/${field.field_id}`, { is_archived: true });
  for (const value of [2, null]) {
    const refused = await put(getValue(field, value));
    expect([refused.status, refused.body.error_code]).toEqual([409, 'RESOURCE_CONFLICT']);
  }
  expect((await list()).body).toMatchObject([{ value: 1 }]);
  await app.as(team.manager).patch(`/api/custom-fields/${field.field_id}`, { is_archived: false });
  expect((await put(getValue(field, 2))).status).toBe(200);
});

it('leaves the history of a value in the activity and the audit log of its task, once per change', async () => {
  const field = await createField(app, team, 'select', { name: 'Severity' });
  for (const value of ['high', 'high', 'low', null, null]) await put(getValue(field, value));
  const entries = await db()('audit_entries')
    .where({ entity_id: task.task_id, feature: 'custom_fields' })
    .orderBy('audit_id')
    .select('entity_type', 'action', 'details');
  const changes = entries.map(({ details }) => JSON.parse(details).changes['custom_field:severity']);
  expect(changes).toEqual([
    { from: null, to: 'high' },
    { from: 'high', to: 'low' },
    { from: 'low', to: null },
  ]);
  const activity = await member().get(`/api/activity?entity_type=task&entity_id=${task.task_id}`);
  const lines = activity.body.map((line: { summary: string }) => line.summary).slice(0, 3);
  expect(lines).toEqual(['cleared Severity', 'set Severity', 'set Severity']);
  expect(activity.body[1].changes).toEqual({ 'custom_field:severity': { from: 'high', to: 'low' } });
  // A value is no part of the task's version, so an open form of the task stays valid.
  expect((await member().patch(`/api/tasks/${task.task_id}`, { title: 'Still', version: task.version })).status).toBe(200);
  await put(getValue(field, 'high'));
  const stale = await member().patch(`/api/tasks/${task.task_id}`, { title: 'Late', version: task.version });
  expect(stale.body.detail).toContain('title');
});

it('keeps values in the trash, brings them back, and purges them with the task', async () => {
  const field = await createField(app, team, 'number');
  await put(getValue(field, 1));
  await member().delete(`/api/tasks/${task.task_id}`);
  expect((await list()).status).toBe(404);
  await member().post(`/api/trash/task/${task.task_id}/restore`);
  expect((await list()).body).toHaveLength(1);
  await member().delete(`/api/tasks/${task.task_id}`);
  await app.as(team.manager).delete(`/api/trash/task/${task.task_id}`);
  expect(await db()('custom_field_values').where({ entity_id: task.task_id })).toEqual([]);
});
