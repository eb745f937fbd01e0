import { decodeJwt } from 'jose';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildPerson, buildProject, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';

// Impersonation of a user by an administrator.

const URL = '/api/admin/impersonate';
const REASON = 'Ticket 4711: cannot see it';

let app: TestApp;
let root: Person;
let admin: Client;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  root = await buildPerson(app, { role: 'admin' });
  admin = app.as(root);
  team = await buildTeam(app);
});

const db = () => app.services.db;
const start = (person: Person, by = admin) => by.post(URL, { user_id: person.user_id, reason: REASON });
const as = async (person: Person) => app.as((await start(person)).body as { token: string });
const openFuzzSession = async (token: string) =>
  await db()('sessions')
    .where({ session_id: decodeJwt(token)['sid'] as string })
    .first();

it('gives a token of 30 minutes with the claim act, and says on every answer who it is', async () => {
  const { status, body } = await start(team.member);
  expect(status).toBe(200);
  expect(body.user).toMatchObject({ user_id: team.member.user_id, impersonated_by: root.user_id, auth_method: 'jwt' });
  const { sub, act, exp = 0, iat = 0 } = decodeJwt(body.token);
  expect({ sub, act, minutes: (exp - iat) / 60 }).toEqual({ sub: team.member.user_id, act: { sub: root.user_id }, minutes: 30 });
  expect(Math.abs(Date.parse(body.expires_at) / 1000 - exp)).toBeLessThan(60);
  const session = await openFuzzSession(body.token);
  expect((session.expires_at - session.created_at) / 60_000).toBe(30);

  const acting = app.as(body.token as string);
  const me = await acting.get('/api/auth/me');
  expect(me.body).toMatchObject({ user_id: team.member.user_id, impersonated_by: root.user_id });
  const answers = [me, await acting.get('/api/projects/garbage'), await acting.post('/api/projects', {}), await acting.get(URL)];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 422, 405]);
  for (const answer of answers.slice(0, 3)) expect(answer.headers.get('x-impersonated-by')).toBe(root.user_id);
  expect((await app.as(team.member).get('/api/auth/me')).headers.get('x-impersonated-by')).toBeNull();
});

it('every entry of what is done carries both names', async () => {
  const acting = await as(team.member);
  const made = await acting.post('/api/projects', { name: 'Apollo', team_id: team.team_id });
  expect(made.status).toBe(201);
  const both = { user_id: team.member.user_id, impersonator_id: root.user_id };
  expect(await db()('audit_entries').where({ audit_id: made.headers.get('x-correlation-id') })).toMatchObject([both]);
  const [entry, ...more] = await db()('audit_entries').where({ entity_id: team.member.user_id, action: 'impersonate_start' });
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ severity: 'HIGH', user_id: root.user_id, impersonator_id: null });
  expect(JSON.parse(entry.details)).toMatchObject({ reason: REASON, minutes: 30 });
});

it('has the person’s rights and not the admin’s: what the person may not see stays out of sight', async () => {
  const other = await buildTeam(app);
  const { project_id } = await buildProject(app, other);
  const acting = await as(team.guest);
  expect((await acting.get(`/api/projects/${project_id}`)).status).toBe(403);
  expect((await acting.post('/api/projects', { name: 'x', team_id: team.team_id })).status).toBe(403);
});

it('403 for an admin, oneself, a suspended or gone person, from a session that is one already, with a token; 404 for nobody', async () => {
  const people = [
    await buildPerson(app, { role: 'admin' }),
    root,
    await buildPerson(app, { status: 'suspended' }),
    await buildPerson(app, { status: 'deprovisioned' }),
  ];
  for (const person of people) expect((await start(person)).status).toBe(403);
  expect((await start(team.guest, await as(team.member))).status).toBe(403);
  expect((await start(team.member, app.as(await buildToken(app, root, ['admin:*'])))).status).toBe(403);
  expect((await start(team.member, app.as(team.admin))).status).toBe(403);
  expect((await admin.post(URL, { user_id: 'garbage', reason: REASON })).status).toBe(404);
});

it.each([
  ['9 characters', 'x'.repeat(9), 422],
  ['10', 'x'.repeat(10), 200],
  ['500', 'x'.repeat(500), 200],
  ['501', 'x'.repeat(501), 422],
])('a reason of %s', async (_what, reason, status) => {
  expect((await admin.post(URL, { user_id: team.member.user_id, reason })).status).toBe(status);
});

it('returns 403 on tokens, sign-ins, roles, invitations, approvals and administration, and writes nothing', async () => {
  const acting = await as(team.admin);
  const theirs = decodeJwt(team.admin.token)['sid'] as string;
  const run = '/api/automations/runs/019a9f00-0000-7000-8000-000000000001';
  const members = `/api/teams/${team.team_id}/members`;
  const answers = [
    await acting.post('/api/auth/tokens', { name: 'x', scopes: ['admin:*'] }),
    await acting.post(members, { user_id: root.user_id, role: 'admin' }),
    await acting.patch(`${members}/${team.member.user_id}`, { role: 'admin' }),
    await acting.delete(`${members}/${team.member.user_id}`),
    await acting.delete(`${members}/${team.admin.user_id}`),
    await acting.get('/api/auth/sessions'),
    await acting.delete(`/api/auth/sessions/${theirs}`),
    await acting.post(`${run}/approve`),
    await acting.post(`${run}/reject`),
    await acting.get('/api/admin/users'),
    await acting.post(`/api/admin/users/${team.member.user_id}/suspend`, { reason: REASON }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
  expect(answers.map(({ headers }) => headers.get('x-impersonated-by'))).toEqual(answers.map(() => root.user_id));
  expect(await db()('audit_entries').where({ impersonator_id: root.user_id })).toEqual([]);
});

it('403 on whatever would go on after the impersonation, and nothing is written', async () => {
  const { project_id } = await buildProject(app, team);
  const person = app.as(team.admin);
  const definition = { name: 'Thank you', trigger_type: 'task.created', actions: [], team_id: team.team_id };
  const { automation_id } = (await person.post('/api/automations', definition)).body;
  const { task_id } = (await person.post('/api/tasks', { title: 'Water the plants', project_id })).body.data;
  const acting = await as(team.admin);
  const automation = `/api/automations/${automation_id}`;
  const run = '/api/automations/runs/019a9f00-0000-7000-8000-000000000001';
  const weekly = { rule: 'FREQ=WEEKLY', mode: 'on_schedule', timezone: 'UTC' };
  const before = await db()('audit_entries').count();
  const answers = [
    await acting.post('/api/automations', definition),
    await acting.put(automation, { ...definition, name: 'Mine now' }),
    await acting.patch(automation, { is_active: false }),
    await acting.delete(automation),
    await acting.post(`${automation}/toggle`, { is_active: true }),
    await acting.post(`${automation}/rollback`, { version: 1 }),
    await acting.post(`${automation}/execute`, {}),
    await acting.post(`${automation}/test`, {}),
    await acting.post(`${run}/cancel`),
    await acting.post('/api/automations/dead-letter/019a9f00-0000-7000-8000-000000000001/retry', {}),
    await acting.post('/api/integrations/forge/connect', {}),
    await acting.post('/api/forge/repositories', { repo: 'acme/rocket', team_id: team.team_id, project_id, sync_issues: true }),
    await acting.delete('/api/forge/repositories/019a9f00-0000-7000-8000-000000000001'),
    await acting.post('/api/teams', { name: 'Mine too', member_ids: [root.user_id] }),
    await acting.post('/api/tasks', { title: 'For ever', project_id, recurrence: weekly }),
    await acting.post('/api/tasks/bulk', [{ title: 'For ever', project_id, recurrence: weekly }]),
    await acting.patch(`/api/tasks/${task_id}`, { recurrence: weekly }),
    await acting.put(`/api/tasks/${task_id}`, { recurrence: weekly }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
  expect(new Set(answers.map(({ body }) => body.message))).toEqual(new Set(['Not while impersonating']));
  expect(await db()('audit_entries').count()).toEqual(before);
});

it('leaves what ends with its own request: reading definitions, bindings and deliveries, tasks, the end of a series', async () => {
  const { project_id } = await buildProject(app, team);
  const acting = await as(team.admin);
  const weekly = { rule: 'FREQ=WEEKLY', mode: 'on_schedule', timezone: 'UTC' };
  const made = await app.as(team.admin).post('/api/tasks', { title: 'Water the plants', project_id, recurrence: weekly });
  const answers = [
    await acting.get(`/api/automations?team_id=${team.team_id}`),
    await acting.get(`/api/forge/repositories?team_id=${team.team_id}`),
    await acting.get(`/api/forge/deliveries?team_id=${team.team_id}`),
    await acting.patch(`/api/tasks/${made.body.data.task_id}`, { recurrence: null }),
    await acting.patch(`/api/tasks/${made.body.data.task_id}`, { title: 'Water them' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

it('the 30 minutes are the session’s: no token outlives them', async () => {
  const { token } = (await start(team.member)).body;
  await db()('sessions')
    .where({ session_id: decodeJwt(token)['sid'] as string })
    .update({ expires_at: new Date() });
  expect((await app.as(token as string).get('/api/auth/me')).status).toBe(401);
});

it('ends with the admin: suspended, or admin no more; and with the person', async () => {
  const watch = await buildPerson(app, { role: 'admin' });
  const tokens = async () => (await start(team.member)).body.token as string;
  const first = await tokens();
  await db()('users').where({ user_id: root.user_id }).update({ role: 'user' });
  expect((await app.as(first).get('/api/auth/me')).status).toBe(401);
  await db()('users').where({ user_id: root.user_id }).update({ role: 'admin' });
  expect((await app.as(first).get('/api/auth/me')).status).toBe(200);
  await app.as(watch).post(`/api/admin/users/${root.user_id}/suspend`, { reason: 'Left' });
  await app.as(watch).post(`/api/admin/users/${root.user_id}/reinstate`);
  expect((await app.as(first).get('/api/auth/me')).status).toBe(401);
  const second = (await start(team.member, app.as(watch))).body.token as string;
  await app.as(watch).post(`/api/admin/users/${team.member.user_id}/suspend`, { reason: 'Left' });
  expect((await app.as(second).get('/api/auth/me')).status).toBe(401);
});

describe('stop', () => {
  it('ends it at once, and the person gets the mail now', async () => {
    const acting = await as(team.member);
    expect(await listMails(app.services, team.member.email)).toEqual([]);
    const stopped = await acting.post(`${URL}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { success: true } });
    expect((await acting.get('/api/auth/me')).status).toBe(401);
    expect((await app.as(team.member).get('/api/auth/me')).status).toBe(200);
    const [mail, ...more] = await listMails(app.services, team.member.email);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ subject: 'An administrator used your account' });
    const entries = await db()('audit_entries').where({ audit_id: stopped.headers.get('x-correlation-id') });
    const both = { user_id: team.member.user_id, impersonator_id: root.user_id };
    expect(entries).toMatchObject([{ action: 'impersonate_end', severity: 'HIGH', ...both }]);
  });

  it('mails the user at the end of the time, also if the administrator does not stop', async () => {
    const { token } = (await start(team.member)).body;
    const { impersonation_mail_id, expires_at } = await openFuzzSession(token as string);
    const mail = await db()('mails').where({ mail_id: impersonation_mail_id }).first();
    expect(Math.abs(mail.next_attempt_at - expires_at)).toBeLessThan(60_000);
    await db()('mails').where({ mail_id: impersonation_mail_id }).update({ next_attempt_at: new Date() });
    expect(await listMails(app.services, team.member.email)).toHaveLength(1);
  });

  it('returns 409 for a caller who impersonates no one', async () => {
    expect((await admin.post(`${URL}/stop`)).status).toBe(409);
  });
});
