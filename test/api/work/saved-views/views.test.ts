import { buildPerson, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
const db = () => app.services.db;
const member = () => app.as(team.member);
const save = (view: object = {}, as: Client = member()) =>
  as.post('/api/saved-views', { name: 'Mine', entity_type: 'task', ...view });
const names = async (as: Client, query = '') =>
  (await as.get(`/api/saved-views${query}`)).body.map(({ name }: { name: string }) => name);

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

it('saves, reads, changes and deletes a view', async () => {
  const filters = { status: ['In-Progress'], priority: ['HIGH'], custom_fields: { points: [1, 'x', true] } };
  const made = await save({
    name: ' Mine ',
    filters,
    sort: [{ field: 'due_date' }],
    group_by: 'status',
    layout: 'board',
    columns: ['title'],
  });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    view_id: expect.any(String),
    name: 'Mine',
    owner_id: team.member.user_id,
    team_id: null,
    is_shared: false,
    is_default: false,
    entity_type: 'task',
    filters: { status: ['in_progress'], priority: ['high'], custom_fields: { points: [1, 'x', true] } },
    sort: [{ field: 'due_date', direction: 'asc' }],
    group_by: 'status',
    layout: 'board',
    columns: ['title'],
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const path = `/api/saved-views/${made.body.view_id}`;
  expect((await member().get(path)).body).toEqual(made.body);
  const changed = await member().patch(path, {
    name: 'Ours',
    team_id: team.team_id,
    is_shared: true,
    group_by: null,
    filters: {},
  });
  expect(changed.body).toMatchObject({ name: 'Ours', is_shared: true, group_by: null, filters: {}, layout: 'board' });
  expect((await member().patch(path, { entity_type: 'project' })).status).toBe(400);
  expect((await member().patch(path, { team_id: null })).status).toBe(400);
  expect((await member().delete(path)).body).toEqual({ success: true, view_id: made.body.view_id });
  expect((await member().get(path)).status).toBe(404);
});

it('hides a private view from all other users, and shows a shared one to its team alone', async () => {
  const mine = (await save({ team_id: team.team_id })).body.view_id;
  const ours = (await save({ name: 'Ours', team_id: team.team_id, is_shared: true })).body.view_id;
  const stranger = await buildTeam(app);
  for (const [person, shared] of [
    [team.admin, 200],
    [team.guest, 200],
    [stranger.admin, 404],
  ] as const) {
    const as = app.as(person);
    for (const [id, status] of [
      [mine, 404],
      [ours, shared],
    ] as const) {
      expect((await as.get(`/api/saved-views/${id}`)).status).toBe(status);
      expect((await as.get(`/api/saved-views/${id}/results`)).status).toBe(status);
      const write = status === 404 ? 404 : 403;
      expect((await as.patch(`/api/saved-views/${id}`, { name: 'Taken' })).status).toBe(write);
      expect((await as.post(`/api/saved-views/${id}/default`)).status).toBe(write);
      expect((await as.delete(`/api/saved-views/${id}`)).status).toBe(write);
    }
  }
  expect(await names(app.as(team.admin))).toEqual(['Ours']);
  expect(await names(app.as(stranger.admin), `?team_id=${team.team_id}`)).toEqual([]);
  expect(await names(member(), `?team_id=${team.team_id}`)).toEqual(['Mine', 'Ours']);
  expect(await names(member(), '?entity_type=project')).toEqual([]);
});

it('keeps private views out of the log and the activity of the team', async () => {
  const mine = (await save({ name: 'Hidden', team_id: team.team_id })).body.view_id;
  const [entry] = await db()('audit_entries').where({ entity_id: mine });
  expect(entry).toMatchObject({ feature: 'saved_views', action: 'create', team_id: null });
  expect(entry.details).not.toContain('Hidden');
  const lines = () => db()('activity').where({ entity_id: mine });
  expect(await lines()).toEqual([]);
  await member().patch(`/api/saved-views/${mine}`, { is_shared: true });
  await member().patch(`/api/saved-views/${mine}`, { is_shared: false });
  expect(await lines()).toMatchObject([{ team_id: team.team_id }, { team_id: team.team_id }]);
});

it('tells a team in its own log that a shared view moved to another team', async () => {
  const id = (await save({ name: 'Ours', team_id: team.team_id, is_shared: true })).body.view_id;
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  expect((await member().patch(`/api/saved-views/${id}`, { team_id: other.team_id })).status).toBe(200);
  for (const entries of [db()('audit_entries'), db()('activity')]) {
    const written = await entries.where({ entity_id: id, action: 'update' });
    expect(new Set(written.map(({ team_id }) => team_id))).toEqual(new Set([team.team_id, other.team_id]));
  }
});

it('refuses guests, shared views without a team, and other teams', async () => {
  expect((await save({}, app.as(team.guest))).status).toBe(403);
  expect((await save({ team_id: team.team_id }, app.as(team.guest))).status).toBe(403);
  expect((await save({ is_shared: true })).status).toBe(400);
  const other = await buildTeam(app);
  expect((await save({ team_id: other.team_id })).status).toBe(403);
  expect((await save({ team_id: 'x' })).status).toBe(404);
  expect((await save({}, app.as(await buildPerson(app)))).status).toBe(403);
});

it.each([
  [{ filters: { status: ['open'] } }, 'body.filters.status'],
  [{ filters: { priority: ['top'] } }, 'body.filters.priority.0'],
  [{ filters: { due_before: 'soon' } }, 'body.filters.due_before'],
  [{ filters: { tags: Array.from({ length: 51 }, (_, at) => `t${at}`) } }, 'body.filters.tags'],
  [{ filters: { custom_fields: { points: 3 } } }, 'body.filters.custom_fields.points'],
  [{ entity_type: 'project', filters: { priority: ['low'] } }, 'body.filters.priority'],
  [{ entity_type: 'work_item', filters: { custom_fields: {} } }, 'body.filters.custom_fields'],
  [{ sort: [{ field: 'password' }] }, 'body.sort.0.field'],
  [{ sort: [{ field: 'title', direction: 'up' }] }, 'body.sort.0.direction'],
  [{ sort: [{ field: 'custom_field:Bad key' }] }, 'body.sort.0.field'],
  [{ sort: [{ field: '__proto__' }] }, 'body.sort.0.field'],
  [{ entity_type: 'work_item', sort: [{ field: 'custom_field:points' }] }, 'body.sort.0.field'],
  [{ sort: '-due_date' }, 'body.sort'],
  [{ group_by: 'tags' }, 'body.group_by'],
  [{ layout: 'gantt' }, 'body.layout'],
  [{ name: '' }, 'body.name'],
])('refuses %j', async (view, field) => {
  const answer = await save(view);
  expect(answer.status).toBe(422);
  expect(answer.body.detail.errors).toEqual([expect.objectContaining({ field })]);
});

it('never stores less of a filter than was sent', async () => {
  const raw = '{"name":"x","entity_type":"task","filters":{"custom_fields":{"__proto__":["x"]}}}';
  expect((await member().post('/api/saved-views', undefined, { raw })).status).toBe(422);
  const ignored = await save({ filters: { statuss: ['todo'] } });
  expect([ignored.status, ignored.headers.get('x-ignored-fields')]).toEqual([201, 'body.filters.statuss']);
});

it('has one default for each entity, also when two become it at once', async () => {
  const ids = await Promise.all([save(), save(), save(), save({ entity_type: 'project' })]).then((all) =>
    all.map(({ body }) => body.view_id),
  );
  const answers = await Promise.all(ids.map((id) => member().post(`/api/saved-views/${id}/default`)));
  expect(answers.map(({ status, body }) => [status, body.is_default])).toEqual(ids.map(() => [200, true]));
  const defaults = await db()('saved_views').where({ owner_id: team.member.user_id, is_default: true }).pluck('entity_type');
  expect(defaults).toHaveLength(2);
  expect(defaults).toEqual(expect.arrayContaining(['project', 'task']));
  await member().post(`/api/saved-views/${ids[0]}/default`);
  const list = (await member().get('/api/saved-views?entity_type=task')).body as { view_id: string; is_default: boolean }[];
  expect(list.filter(({ is_default }) => is_default).map(({ view_id }) => view_id)).toEqual([ids[0]]);
});

it('has at most 200 views of a person', async () => {
  const row = {
    owner_id: team.member.user_id,
    name: 'x',
    entity_type: 'task',
    filters: '{}',
    sort: '[]',
    layout: 'list',
    columns: [],
  };
  await db()('saved_views').insert(Array.from({ length: 199 }, () => row));
  const answers = await Promise.all([save(), save(), save()]);
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 400, 400]);
});

it('ends with the membership of its owner, and with its team', async () => {
  await save({ team_id: team.team_id });
  await save({ name: 'Shared', team_id: team.team_id, is_shared: true });
  await save({ name: 'Of no team' });
  await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`);
  expect(await names(member())).toEqual(['Of no team']);
  expect(await names(app.as(team.admin))).toEqual([]);
  await save({ team_id: team.team_id }, app.as(team.admin));
  await app.as(team.admin).delete(`/api/teams/${team.team_id}`);
  expect(await db()('saved_views').where({ team_id: team.team_id })).toEqual([]);
});
