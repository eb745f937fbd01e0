import { createField, setFields, type TestField } from '../../../factories/custom-fields.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 5);

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let field: TestField;
const db = () => app.services.db;
const put = (task_id: string, value: unknown, of = field) =>
  app.as(team.member).put('/api/custom-fields/values', { field_id: of.field_id, entity_type: 'task', entity_id: task_id, value });
const stored = (task_id: string) => db()('custom_field_values').where({ entity_id: task_id });
const entriesByTeam = async (task_id: string): Promise<{ from: number | null; to: number | null }[]> => {
  const entries = await db()('audit_entries').where({ entity_id: task_id, feature: 'custom_fields' }).pluck('details');
  return entries.map((details) => Object.values(JSON.parse(details).changes)[0] as { from: number; to: number });
};

beforeAll(async () => {
  app = await startApp({}, 60_000);
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterAll(() => app.close());
beforeEach(async () => {
  field = await createField(app, team, 'number');
});

it('sets a value or archives the field first, never both the other way round', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = await createField(app, team, 'number');
    const task = await buildTask(app, team, project);
    const [archived, ...answers] = await Promise.all([
      app.as(team.manager).patch(`/api/custom-fields/${one.field_id}`, { is_archived: true }),
      ...[1, 2, 3].map((value) => put(task.task_id, value, one)),
    ]);
    expect(archived.status).toBe(200);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const archivedAt = await db()('audit_entries').where({ entity_id: one.field_id, action: 'update' }).first('timestamp');
    const values = await db()('audit_entries').where({ entity_id: task.task_id, feature: 'custom_fields' }).pluck('timestamp');
    expect(values).toHaveLength(answers.filter(({ status }) => status === 200).length);
    expect(values.every((at: string) => at < archivedAt.timestamp)).toBe(true);
  }
});

it('leaves no value of a field that is deleted meanwhile', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = await createField(app, team, 'number');
    const task = await buildTask(app, team, project);
    const [deleted, ...answers] = await Promise.all([
      app.as(team.manager).delete(`/api/custom-fields/${one.field_id}`),
      ...[1, 2, 3].map((value) => put(task.task_id, value, one)),
    ]);
    expect(deleted.status).toBe(200);
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect(deleted.body.deleted_values).toBe(answers.some(({ status }) => status === 200) ? 1 : 0);
    expect(await stored(task.task_id)).toEqual([]);
  }
});

it('sets no value of a task in the trash, and leaves none of a purged one', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const task = await buildTask(app, team, project);
    const [trashed, ...answers] = await Promise.all([
      app.as(team.member).delete(`/api/tasks/${task.task_id}`),
      ...[1, 2].map((value) => put(task.task_id, value)),
    ]);
    expect(trashed.status).toBe(200);
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
    const [purged, late] = await Promise.all([
      app.as(team.manager).delete(`/api/trash/task/${task.task_id}`),
      put(task.task_id, 3),
    ]);
    expect([purged.status, late.status]).toEqual([200, 404]);
    expect(await stored(task.task_id)).toEqual([]);
  }
});

it('writes one history of values that are set at once', async () => {
  const task = await buildTask(app, team, project);
  const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((value) => put(task.task_id, value)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const entries = await entriesByTeam(task.task_id);
  // Each entry continues where another ended: one chain from nothing to the stored value.
  const next = new Map(entries.map(({ from, to }) => [from, to]));
  expect(next.size).toBe(8);
  let value: number | null | undefined = null;
  for (let step = 0; step < 8; step += 1) value = next.get(value as number | null);
  expect(await stored(task.task_id)).toMatchObject([{ value_number: value }]);
});

it('sets lists of the same values in any order without a deadlock', async () => {
  const tasks = await Promise.all(Array.from({ length: 6 }, () => buildTask(app, team, project)));
  const readBody = (value: number, reversed: boolean) => {
    const body = tasks.map(({ task_id }) => ({ field_id: field.field_id, entity_type: 'task', entity_id: task_id, value }));
    return reversed ? body.reverse() : body;
  };
  const answers = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((value) => app.as(team.member).put('/api/custom-fields/values', readBody(value, value % 2 === 0))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  const values = await db()('custom_field_values').where({ field_id: field.field_id }).pluck('value_number');
  // All tasks have the value of the request that came last.
  expect(new Set(values).size).toBe(1);
});

it('names no user as a value who leaves meanwhile, and keeps the values of those who left', async () => {
  const user = await createField(app, team, 'user');
  const task = await buildTask(app, team, project);
  await setFields(app, team, [{ field: user, task_id: task.task_id, value: team.guest.user_id }]);
  const left = await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.guest.user_id}`);
  expect(left.status).toBe(200);
  expect(await stored(task.task_id)).toMatchObject([{ value_text: team.guest.user_id }]);
  const other = await buildTask(app, team, project);
  expect((await put(other.task_id, team.guest.user_id, user)).status).toBe(400);
});

it('sets values of what a member leads and is assigned to while they are removed', async () => {
  const who = await createField(app, team, 'user');
  const onProject = await createField(app, team, 'number', { entity_type: 'project' });
  for (let round = 0; round < ROUNDS; round += 1) {
    const leaver = await buildPerson(app);
    await db()('memberships').insert({ team_id: team.team_id, user_id: leaver.user_id, role: 'member' });
    const led = await buildProject(app, team, { lead_id: leaver.user_id });
    const fields = { assigned_to: leaver.user_id };
    const tasks = await Promise.all([1, 2, 3].map(() => buildTask(app, team, led, fields)));
    const late = await buildTask(app, team, led);
    const values = tasks.map(({ task_id }) => ({
      field_id: who.field_id,
      entity_type: 'task',
      entity_id: task_id,
      value: leaver.user_id,
    }));
    const body = [...values, { field_id: onProject.field_id, entity_type: 'project', entity_id: led.project_id, value: round }];
    const set = (person: Person, items: object[]) => app.as(person).put('/api/custom-fields/values', items);
    const [removed, ...answers] = await Promise.all([
      app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${leaver.user_id}`),
      set(leaver, body),
      set(team.member, body.toReversed()),
      app.as(team.member).patch(`/api/tasks/${late.task_id}`, { assigned_to: leaver.user_id }),
      set(leaver, [{ field_id: who.field_id, entity_type: 'task', entity_id: late.task_id, value: leaver.user_id }]),
    ]);
    expect(removed.status).toBe(200);
    // Who has left may set nothing (403), and is no value any more (400).
    expect(answers.every(({ status }) => [200, 400, 403].includes(status))).toBe(true);
  }
});

it('keeps the document of a task equal to its values, whatever is set and deleted at once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const doomed = await createField(app, team, 'number');
    const kept = await createField(app, team, 'number');
    const task = await buildTask(app, team, project);
    await put(task.task_id, 1, doomed);
    const [deleted, set] = await Promise.all([
      app.as(team.manager).delete(`/api/custom-fields/${doomed.field_id}`),
      put(task.task_id, 2, kept),
    ]);
    expect([deleted.status, set.status]).toEqual([200, 200]);
    const { members } = await db()('custom_field_documents').where({ entity_id: task.task_id }).first('members');
    expect(JSON.parse(`{${members}}`)).toEqual({ [kept.key]: 2 });
  }
});
