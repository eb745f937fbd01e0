import { MARK_KINDS } from '../../../../api/work/notifications/write-notices.sql.js';
import { writeNotices } from '../../../../api/work/notifications/write-notices.js';
import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project_id: string;
let path: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  ({ project_id } = await buildProject(app, team));
  path = `/api/projects/${project_id}`;
});

const db = () => app.services.db;
const updatePath = (id: string) => `/api/project-updates/${id}`;
const findAudit = (id: string) => db()('audit_entries').where({ entity_id: id }).orderBy('timestamp');
const post = async (by: Person, fields: Record<string, unknown> = {}) => {
  const answer = await app.as(by).post(`${path}/updates`, { health: 'on_track', content: 'All is well', ...fields });
  expect(answer.status).toBe(201);
  return answer.body as { update_id: string; created_at: string };
};
const healthOf = async () => {
  const { health, health_at } = (await app.as(team.guest).get(path)).body;
  return [health, health_at];
};

it('gives the project its health, without a new version, and leaves audit, activity and an event', async () => {
  expect(await healthOf()).toEqual([null, null]);
  const answer = await app.as(team.member).post(`${path}/updates`, { health: 'at_risk', content: ' The antenna is *late*\n' });
  expect(answer).toMatchObject({
    status: 201,
    body: { project_id, health: 'at_risk', content: ' The antenna is *late*\n', author_id: team.member.user_id, edited: false },
  });
  const { update_id, created_at } = answer.body;
  expect(await healthOf()).toEqual(['at_risk', created_at]);
  expect(await db()('projects').where({ project_id }).first()).toMatchObject({ version: 1 });
  const audit_id = answer.headers.get('x-correlation-id');
  expect(await findAudit(update_id)).toMatchObject([
    { audit_id, feature: 'projects', action: 'create', entity_type: 'project_update' },
  ]);
  expect(await db()('activity').where({ entity_id: update_id, project_id })).toHaveLength(1);
  const [event] = await db()('outbox').where({ subject: 'project_update.created', team_id: team.team_id });
  expect(event.payload).toMatchObject({
    update: answer.body,
    project: { project_id, health: 'at_risk' },
    actor_id: team.member.user_id,
  });
});

it.each([
  ['no health', { health: undefined }],
  ['an unknown health', { health: 'great' }],
  ['no text', { content: undefined }],
  ['a blank text', { content: ' \n' }],
  ['5,001 characters', { content: 'x'.repeat(5_001) }],
])('422 refuses %s', async (_what, fields) => {
  const body = { health: 'on_track', content: 'Fine', ...fields };
  expect((await app.as(team.member).post(`${path}/updates`, body)).status).toBe(422);
  expect(await healthOf()).toEqual([null, null]);
});

it('lists the newest first, by a cursor', async () => {
  const made = [];
  for (const content of ['One', 'Two', 'Three']) made.push((await post(team.member, { content })).update_id);
  const first = await app.as(team.guest).get(`${path}/updates?limit=2`);
  expect(first.body.map((one: { content: string }) => one.content)).toEqual(['Three', 'Two']);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const rest = await app.as(team.guest).get(next.slice(next.indexOf('/api')));
  expect(rest.body).toMatchObject([{ update_id: made[0] }]);
});

it('is edited by its author; what the newest one says is the health of the project', async () => {
  const old = await post(team.member, { health: 'off_track' });
  const newest = await post(team.manager);
  const edited = await app.as(team.member).patch(updatePath(old.update_id), { health: 'at_risk' });
  expect(edited).toMatchObject({ status: 200, body: { health: 'at_risk', content: 'All is well', edited: true } });
  expect(await healthOf()).toEqual(['on_track', newest.created_at]);
  await app.as(team.manager).patch(updatePath(newest.update_id), { health: 'off_track', content: 'It burns' });
  expect(await healthOf()).toEqual(['off_track', newest.created_at]);
  const [, entry] = await findAudit(newest.update_id);
  expect(JSON.parse(entry.details)).toEqual({ project_id, health: { from: 'on_track', to: 'off_track' } });
  const same = await app.as(team.manager).patch(updatePath(newest.update_id), { content: 'It burns' });
  expect(same.body).toMatchObject({ health: 'off_track' });
  expect(await findAudit(newest.update_id)).toHaveLength(2);
  expect((await app.as(team.manager).patch(updatePath(old.update_id), { content: 'Mine' })).status).toBe(403);
});

it('is deleted by its author or a manager; the one before then says the health', async () => {
  const first = await post(team.member, { health: 'at_risk' });
  const second = await post(team.manager, { health: 'off_track' });
  expect((await app.as(team.member).delete(updatePath(second.update_id))).status).toBe(403);
  expect((await app.as(team.manager).delete(updatePath(second.update_id))).body).toEqual({
    success: true,
    update_id: second.update_id,
  });
  expect(await healthOf()).toEqual(['at_risk', first.created_at]);
  await app.as(team.manager).delete(updatePath(first.update_id));
  expect(await healthOf()).toEqual([null, null]);
  for (const method of ['patch', 'delete'] as const)
    expect((await app.as(team.manager)[method](updatePath(first.update_id), {})).status).toBe(404);
});

it('belongs to its project: 404 while that is in the trash, gone with its purge', async () => {
  const { update_id } = await post(team.member);
  await app.as(team.admin).delete(path);
  expect((await app.as(team.member).get(`${path}/updates`)).status).toBe(404);
  expect((await app.as(team.member).patch(updatePath(update_id), { content: 'x' })).status).toBe(404);
  expect((await app.as(team.member).delete(updatePath(update_id))).status).toBe(404);
  await app.as(team.admin).post(`/api/trash/project/${project_id}/restore`);
  expect((await app.as(team.member).get(`${path}/updates`)).body).toMatchObject([{ update_id }]);
  await app.as(team.admin).delete(path);
  expect((await app.as(team.admin).delete(`/api/trash/project/${project_id}`)).status).toBe(200);
  expect(await db()('project_updates').where({ update_id })).toEqual([]);
});

it('notifies the lead and the creator, once each and not the author', async () => {
  await db()('projects').where({ project_id }).update({ created_by: team.admin.user_id });
  await app.as(team.admin).patch(path, { lead_id: team.manager.user_id });
  await post(team.member, { health: 'at_risk' });
  await post(team.manager, { health: 'off_track' });
  const gone = await post(team.member);
  await app.as(team.member).delete(updatePath(gone.update_id));
  while ((await writeNotices(app.services)) > 0);
  const noticesOf = async (user_id: string) => {
    const rows = await db()('notifications').where({ user_id, item_id: project_id }).orderBy('notification_id');
    return rows.map(({ kind, message }) => [kind, message.replace(/^.*? posted/, 'posted')]);
  };
  const atRisk = ['project_updated', 'posted an update on “Apollo”: At risk'];
  expect(await noticesOf(team.manager.user_id)).toEqual([atRisk]);
  expect(await noticesOf(team.admin.user_id)).toEqual([atRisk, ['project_updated', 'posted an update on “Apollo”: Off track']]);
  expect(await noticesOf(team.member.user_id)).toEqual([]);
});

it('notifies members whom an update names, instead of its news, and whom an edit adds', async () => {
  await app.as(team.admin).patch(path, { lead_id: team.manager.user_id });
  const at = ({ user_id }: Person) =>
    db()('users')
      .where({ user_id })
      .first('username')
      .then(({ username }) => `@${username}`);
  const stranger = await buildPerson(app);
  const [lead, guest, other] = await Promise.all([team.manager, team.guest, stranger].map(at));
  const { update_id } = await post(team.member, { content: `Look here, ${lead} and ${other}, ${await at(team.member)}` });
  await app.as(team.member).patch(updatePath(update_id), { content: `Look here, ${lead} and ${guest}` });
  while ((await writeNotices(app.services)) > 0);
  const rows = await db()('notifications').where({ item_id: project_id, kind: 'mentioned' }).orderBy('notification_id');
  expect(rows.map(({ user_id }) => user_id)).toEqual([team.manager.user_id, team.guest.user_id]);
  expect(rows[0].message).toMatch(/ mentioned you on “Apollo”$/);
  expect(await db()('notifications').where({ user_id: team.manager.user_id, kind: 'project_updated' })).toEqual([]);
});

it('several posted at the same time leave the health of the newest', async () => {
  for (let round = 0; round < 5; round += 1) {
    await Promise.all((['on_track', 'at_risk', 'off_track'] as const).map((health) => post(team.member, { health })));
    const [newest] = (await app.as(team.member).get(`${path}/updates?limit=1`)).body;
    expect(await healthOf()).toEqual([newest.health, newest.created_at]);
  }
});

it('the pass that writes notices takes every kind of mark that the database has', async () => {
  const { rows } = await db().raw(
    "select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'notice_marks_kind_check'",
  );
  const kinds = [...(rows[0].text as string).matchAll(/'([a-z_]+)'/g)].map(([, kind]) => kind);
  expect(new Set(kinds)).toEqual(new Set(MARK_KINDS));
});
