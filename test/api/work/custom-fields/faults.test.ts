/** Each write of custom fields and saved views whose connection is cut before its last row leaves nothing, and succeeds when repeated. */
import { createField, setFields, type TestField } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let field: TestField;
let tasks: { task_id: string }[];
let views: string[];
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  tasks = [await buildTask(app, team, project), await buildTask(app, team, project)];
  field = await createField(app, team, 'number');
  await setFields(
    app,
    team,
    tasks.map(({ task_id }) => ({ field, task_id, value: 1 })),
  );
  const save = (name: string) =>
    app.as(team.member).post('/api/saved-views', { name, entity_type: 'task', team_id: team.team_id });
  views = [(await save('One')).body.view_id, (await save('Two')).body.view_id];
  await app.as(team.member).post(`/api/saved-views/${views[0]}/default`);
  await db().raw(`
    create function cut() returns trigger language plpgsql as $$ begin
      perform pg_terminate_backend(pg_backend_pid());
      perform pg_sleep(5);
      return new;
    end $$`);
});
afterAll(() => app.close());

const TABLES = ['custom_fields', 'custom_field_values', 'custom_field_documents', 'saved_views', 'activity', 'outbox'];
const state = () => Promise.all(TABLES.map((table) => db()(table).select('*').orderBy(1).orderBy(2)));
const values = (value: number) =>
  tasks.map(({ task_id }) => ({ field_id: field.field_id, entity_type: 'task', entity_id: task_id, value }));

const WRITES: [string, () => Promise<{ status: number }>][] = [
  [
    'creating a field',
    () =>
      app
        .as(team.manager)
        .post('/api/custom-fields', { team_id: team.team_id, name: 'New', field_type: 'text', entity_type: 'task' }),
  ],
  ['setting two values', () => app.as(team.member).put('/api/custom-fields/values', values(2))],
  ['renaming a field', () => app.as(team.manager).patch(`/api/custom-fields/${field.field_id}`, { name: 'Renamed' })],
  ['deleting a field with its values', () => app.as(team.manager).delete(`/api/custom-fields/${field.field_id}`)],
  ['saving a view', () => app.as(team.member).post('/api/saved-views', { name: 'New', entity_type: 'task' })],
  ['changing a view', () => app.as(team.member).patch(`/api/saved-views/${views[1]}`, { name: 'Other', is_shared: true })],
  ['choosing another default', () => app.as(team.member).post(`/api/saved-views/${views[1]}/default`)],
  ['deleting a view', () => app.as(team.member).delete(`/api/saved-views/${views[1]}`)],
];

it.each(WRITES)('%s', async (_name, write) => {
  await db().raw(
    "create trigger cut before insert on audit_entries for each row when (new.feature in ('custom_fields', 'saved_views')) execute function cut()",
  );
  const before = await state();
  const cut = await write();
  await db().raw('drop trigger cut on audit_entries');
  expect(cut.status).toBe(503);
  expect(await state()).toEqual(before);
  expect([200, 201]).toContain((await write()).status);
  expect(await state()).not.toEqual(before);
});
