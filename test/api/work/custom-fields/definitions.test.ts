import { createField } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
const db = () => app.services.db;
const manager = () => app.as(team.manager);
const create = (body: object = {}) =>
  manager().post('/api/custom-fields', {
    team_id: team.team_id,
    name: 'Severity',
    field_type: 'text',
    entity_type: 'task',
    ...body,
  });

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

it('defines a field with its choices, and lists the fields by position', async () => {
  const options = [{ value: 'high', label: 'High', color: '#CC3333' }, { value: 'low' }];
  const created = await create({ name: ' How bad? ', field_type: 'select', options, required: true });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    field_id: expect.any(String),
    team_id: team.team_id,
    name: 'How bad?',
    key: 'how_bad',
    field_type: 'select',
    entity_type: 'task',
    options: [
      { value: 'high', label: 'High', color: '#cc3333' },
      { value: 'low', label: 'low', color: null },
    ],
    required: true,
    position: 0,
    is_archived: false,
    created_at: expect.any(String),
  });
  const second = (await create({ name: 'Budget', field_type: 'number', entity_type: 'project' })).body;
  expect(second.position).toBe(1);
  await manager().patch(`/api/custom-fields/${second.field_id}`, { position: 0 });
  const first = (await create({ name: 'First', position: 0 })).body;
  const list = await app.as(team.guest).get(`/api/custom-fields?team_id=${team.team_id}`);
  expect(list.body.map((field: { name: string }) => field.name)).toEqual(['How bad?', 'Budget', 'First']);
  expect(first.position).toBe(0);
  const ofProjects = await app.as(team.guest).get(`/api/custom-fields?team_id=${team.team_id}&entity_type=project`);
  expect(ofProjects.body.map((field: { key: string }) => field.key)).toEqual(['budget']);
  const audited = await db()('audit_entries').where({ entity_id: created.body.field_id });
  expect(audited).toMatchObject([
    { feature: 'custom_fields', action: 'create', severity: 'MEDIUM', entity_type: 'custom_field' },
  ]);
  const activity = await app.as(team.guest).get(`/api/activity?team_id=${team.team_id}&entity_type=custom_field`);
  expect(activity.body[0]).toMatchObject({ entity_title: 'First', summary: 'created the custom field' });
});

it.each([
  ['Größe (m²)', 'gro_e_m2'],
  ['3 wishes', 'field_3_wishes'],
  ['漢字', 'field'],
  ['__x__', 'x'],
  ['a'.repeat(80), 'a'.repeat(63)],
])('makes a key of the name %s', async (name, key) => {
  const made = (await create({ name })).body;
  expect(made.key).toBe(key);
  const again = (await create({ name })).body.key;
  expect(again).toMatch(/^[a-z][a-z0-9_]{0,62}$/);
  expect(again).toMatch(/_2$/);
});

it('refuses a taken key with 409, in the team alone', async () => {
  await create({ key: 'severity' });
  expect((await create({ key: 'severity', entity_type: 'project' })).status).toBe(409);
  const other = await buildTeam(app);
  const theirs = { team_id: other.team_id, name: 'x', key: 'severity', field_type: 'text', entity_type: 'task' };
  expect((await app.as(other.manager).post('/api/custom-fields', theirs)).status).toBe(201);
});

it.each([
  [{ key: 'Severity' }, 'body.key'],
  [{ key: '_x' }, 'body.key'],
  [{ key: 'a'.repeat(64) }, 'body.key'],
  [{ name: '' }, 'body.name'],
  [{ name: 'x'.repeat(81) }, 'body.name'],
  [{ field_type: 'formula' }, 'body.field_type'],
  [{ entity_type: 'note' }, 'body.entity_type'],
  [{ field_type: 'select' }, 'body.options'],
  [{ field_type: 'select', options: [] }, 'body.options'],
  [{ options: [{ value: 'x' }] }, 'body.options'],
  [{ field_type: 'select', options: [{ value: 'x' }, { value: ' x ' }] }, 'body.options'],
  [{ field_type: 'select', options: [{ value: 'x', color: 'red' }] }, 'body.options.0.color'],
  [{ field_type: 'select', options: Array.from({ length: 101 }, (_, at) => ({ value: `v${at}` })) }, 'body.options'],
  [{ position: -1 }, 'body.position'],
])('refuses the definition %j', async (body, field) => {
  const answer = await create(body);
  expect(answer.status).toBe(422);
  expect(answer.body.detail.errors[0].field).toBe(field);
});

it('changes what may change, and nothing else', async () => {
  const { field_id } = await createField(app, team, 'select');
  const path = `/api/custom-fields/${field_id}`;
  const changed = await manager().patch(path, { name: 'Impact', options: [{ value: 'low' }, { value: 'none' }], position: 7 });
  expect(changed.body).toMatchObject({ name: 'Impact', position: 7, key: 'a_select' });
  expect(changed.body.options.map((option: { value: string }) => option.value)).toEqual(['low', 'none']);
  for (const fixed of [{ key: 'impact' }, { field_type: 'text' }, { entity_type: 'project' }, { team_id: 'x' }]) {
    const refused = await manager().patch(path, { name: 'No', ...fixed });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'INVALID_REQUEST']);
  }
  // The same value is no change.
  const same = await manager().patch(path, { key: 'a_select', field_type: 'select', team_id: team.team_id });
  expect(same.body).toEqual(changed.body);
  expect((await manager().patch(path, { options: [] })).status).toBe(422);
  expect(await db()('audit_entries').where({ entity_id: field_id, action: 'update' })).toHaveLength(1);
});

it('deletes a field with its values', async () => {
  const project = await buildProject(app, team);
  const task = await buildTask(app, team, project);
  const field = await createField(app, team, 'number');
  const value = { field_id: field.field_id, entity_type: 'task', entity_id: task.task_id, value: 3 };
  await app.as(team.member).put('/api/custom-fields/values', value);
  const deleted = await manager().delete(`/api/custom-fields/${field.field_id}`);
  expect(deleted.body).toEqual({ success: true, field_id: field.field_id, deleted_values: 1 });
  expect(await db()('custom_field_values').where({ field_id: field.field_id })).toEqual([]);
  expect((await manager().delete(`/api/custom-fields/${field.field_id}`)).status).toBe(404);
  expect((await app.as(team.member).put('/api/custom-fields/values', value)).status).toBe(404);
  // The key is free again.
  expect((await create({ key: field.key })).status).toBe(201);
});

it('has at most 100 fields in a team, also of creations at once', async () => {
  const rows = Array.from({ length: 98 }, (_, at) => ({
    team_id: team.team_id,
    name: 'x',
    key: `k${at}`,
    field_type: 'text',
    entity_type: 'task',
    position: at,
    created_by: team.admin.user_id,
  }));
  await db()('custom_fields').insert(rows);
  const answers = await Promise.all(Array.from({ length: 6 }, () => create({ name: 'New' })));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 400, 400, 400, 400]);
  const keys = await db()('custom_fields').where({ team_id: team.team_id }).pluck('key');
  expect(new Set(keys).size).toBe(100);
});

it('goes with its team', async () => {
  const field = await createField(app, team, 'text');
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect(await db()('custom_fields').where({ field_id: field.field_id })).toEqual([]);
});
