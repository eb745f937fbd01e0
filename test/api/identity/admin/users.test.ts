import { buildPerson, buildProject, buildTask, buildTeam, buildToken, type Person } from '../../../factories/people.js';
import { type Client, startApp, startSibling, type TestApp } from '../../../support/app.js';
import { lockWaiters } from '../../../support/database.js';
import { until } from '../../../support/worker.js';

// Administration of the installation.

let app: TestApp;
let root: Person;
let admin: Client;
beforeAll(async () => {
  app = await startApp();
  root = await buildPerson(app, { role: 'admin' });
  admin = app.as(root);
});
afterAll(() => app.close());

const db = () => app.services.db;
const users = '/api/admin/users';
const suspend = (id: string, by = admin) => by.post(`${users}/${id}/suspend`, { reason: 'Lost laptop' });
const getStatus = async (user_id: string) => (await db()('users').where({ user_id }).first()).status;
const findAudit = (entity_id: string) => db()('audit_entries').where({ entity_id, feature: 'admin' }).orderBy('timestamp');
const me = (credential: string | Person, by: Pick<TestApp, 'as'> = app) => by.as(credential).get('/api/auth/me');

describe('GET /api/admin/users', () => {
  it('finds by part of address or name, by status, in pages; a wildcard is a letter', async () => {
    const people = [];
    for (const _n of [1, 2, 3]) people.push(await buildPerson(app));
    const mark = `needle_${people[0]?.user_id.slice(-6)}`;
    for (const [n, { user_id }] of people.entries()) {
      await db()('users')
        .where({ user_id })
        .update(n === 0 ? { display_name: `Ada ${mark}` } : { email: `${mark}-${n}@x.test` });
    }
    await suspend(people[2]?.user_id as string);
    const found = async (query: string) => {
      const { status, headers, body } = await admin.get(`${users}?${query}`);
      expect(status).toBe(200);
      return { ids: body.map((user: Person) => user.user_id), total: headers.get('x-total-count'), link: headers.get('link') };
    };
    const ids = people.map(({ user_id }) => user_id);
    const q = (text: string) => `q=${encodeURIComponent(text)}`;
    expect(await found(q(mark.toUpperCase()))).toMatchObject({ ids, total: '3', link: null });
    expect(await found(`${q(mark)}&status=suspended`)).toMatchObject({ ids: [ids[2]] });
    const page = await found(`${q(mark)}&limit=2`);
    expect(page).toMatchObject({ ids: ids.slice(0, 2), total: '3', link: expect.stringContaining('rel="next"') });
    expect(await found(`${q(mark)}&limit=2&offset=2`)).toMatchObject({ ids: ids.slice(2) });
    expect((await found(q(mark.replace('_', '%')))).ids).toEqual([]);
    expect((await found(q(mark.replace('_', 'x')))).ids).toEqual([]);
    const [user] = (await admin.get(`${users}?${q(`${mark}-1`)}`)).body;
    expect(user).toMatchObject({ role: 'user', status: 'active', two_factor_enabled: false, teams: 0 });
    expect(Object.keys(user)).not.toContain('password_hash');
  });

  it('422 for an unknown status', async () => {
    expect((await admin.get(`${users}?status=asleep`)).status).toBe(422);
  });
});

describe('suspend and reinstate', () => {
  it('keeps out on the next request of every process; tokens revive, sessions do not', async () => {
    const sibling = await startSibling(app);
    const ada = await buildPerson(app);
    const token = await buildToken(app, ada, ['admin:*']);
    for (const credential of [ada.token, token]) expect((await me(credential, sibling)).status).toBe(200);
    expect(await suspend(ada.user_id)).toMatchObject({
      status: 200,
      body: { success: true, user_id: ada.user_id, status: 'suspended' },
    });
    for (const by of [app, sibling])
      for (const credential of [ada.token, token]) expect((await me(credential, by)).status).toBe(401);
    expect((await admin.post(`${users}/${ada.user_id}/reinstate`)).body).toMatchObject({ status: 'active' });
    expect((await me(token, sibling)).status).toBe(200);
    expect((await me(ada.token, sibling)).status).toBe(401);
    const entries = await findAudit(ada.user_id);
    expect(entries).toMatchObject([
      { action: 'suspend', severity: 'HIGH', user_id: root.user_id },
      { action: 'reinstate', severity: 'HIGH', user_id: root.user_id },
    ]);
    expect(JSON.parse(entries[0].details)).toMatchObject({ reason: 'Lost laptop', sessions: 1 });
    await sibling.close();
  });

  it('changes nothing when repeated; returns 409 for deprovisioned users and 422 without a reason', async () => {
    const ada = await buildPerson(app);
    for (const _again of [1, 2]) expect((await suspend(ada.user_id)).status).toBe(200);
    for (const _again of [1, 2]) expect((await admin.post(`${users}/${ada.user_id}/reinstate`)).status).toBe(200);
    expect(await findAudit(ada.user_id)).toHaveLength(2);
    const gone = await buildPerson(app, { status: 'deprovisioned' });
    expect((await suspend(gone.user_id)).status).toBe(409);
    expect((await admin.post(`${users}/${gone.user_id}/reinstate`)).status).toBe(409);
    expect((await admin.post(`${users}/${ada.user_id}/suspend`, { reason: ' ' })).status).toBe(422);
    expect(await getStatus(ada.user_id)).toBe('active');
  });

  it('a request under way may finish; the next one may not begin', async () => {
    const team = await buildTeam(app);
    const task = await buildTask(app, team, await buildProject(app, team));
    const path = `/api/tasks/${task.task_id}`;
    const blocker = await db().transaction();
    await blocker('tasks').where({ task_id: task.task_id }).forUpdate();
    const underWay = app.as(team.member).patch(path, { title: 'Finished' });
    await until(async () => (await lockWaiters(db())) > 0);
    expect((await suspend(team.member.user_id)).status).toBe(200);
    expect((await app.as(team.member).patch(path, { title: 'Late' })).status).toBe(401);
    await blocker.rollback();
    expect((await underWay).status).toBe(200);
    expect((await app.as(team.admin).get(path)).body.title).toBe('Finished');
  });

  it('nobody suspends themselves, and of admins who suspend each other at once one is left', async () => {
    expect((await suspend(root.user_id)).status).toBe(409);
    for (let round = 0; round < 5; round += 1) {
      const [one, two] = [await buildPerson(app, { role: 'admin' }), await buildPerson(app, { role: 'admin' })];
      await db()('users').where({ user_id: root.user_id }).update({ status: 'suspended' });
      const answers = await Promise.all([
        suspend(two.user_id, app.as(one)),
        suspend(one.user_id, app.as(two)),
        suspend(two.user_id, app.as(one)),
        suspend(one.user_id, app.as(two)),
      ]);
      await db()('users').where({ user_id: root.user_id }).update({ status: 'active' });
      const left = [await getStatus(one.user_id), await getStatus(two.user_id)];
      expect(left.filter((status) => status === 'active')).toHaveLength(1);
      expect(answers.every(({ status }) => [200, 401, 403].includes(status))).toBe(true);
      await db()('users').whereIn('user_id', [one.user_id, two.user_id]).update({ status: 'suspended' });
    }
  });
});

it('unlock ends the lock of the account and of its devices, and says so once in the log', async () => {
  const ada = await buildPerson(app);
  const [device] = await db()('trusted_devices')
    .insert({ user_id: ada.user_id, token_hash: Buffer.from(ada.user_id), expires_at: new Date(Date.now() + 60_000) })
    .returning('device_id');
  for (const subject of [`mail ${ada.email}`, `device ${device.device_id}`]) {
    await db()('login_attempts').insert({ subject, attempts: 20, locked_until: new Date(Date.now() + 60_000) });
  }
  const locked = async () => (await admin.get(`${users}?q=${ada.email}`)).body[0].locked;
  expect(await locked()).toBe(true);
  for (const _again of [1, 2]) {
    expect(await admin.post(`${users}/${ada.user_id}/unlock`)).toMatchObject({ status: 200, body: { status: 'active' } });
  }
  expect(await locked()).toBe(false);
  expect(await db()('login_attempts').where('subject', 'like', `%${device.device_id}`)).toEqual([]);
  expect(await findAudit(ada.user_id)).toMatchObject([{ action: 'unlock', severity: 'HIGH' }]);
});

describe('PUT /api/admin/teams/:team_id/plan', () => {
  it('switches the plan, what it entitles to with it, and leaves a HIGH entry in the team’s own chain', async () => {
    const team = await buildTeam(app);
    const plan = (name: string) => admin.put(`/api/admin/teams/${team.team_id}/plan`, { plan: name });
    const entitlements = async () => (await me(team.member)).body.entitlements;
    expect(await entitlements()).toEqual(['audit_logs']);
    expect(await plan('free')).toMatchObject({ status: 200, body: { team_id: team.team_id, plan: 'free', entitlements: [] } });
    expect(await entitlements()).toEqual([]);
    expect((await plan('free')).status).toBe(200);
    expect((await plan('scale')).body.entitlements).toEqual(['audit_logs']);
    expect(await entitlements()).toEqual(['audit_logs']);
    expect(await findAudit(team.team_id)).toMatchObject([
      { action: 'switch_plan', severity: 'HIGH', team_id: team.team_id, user_id: root.user_id },
      { action: 'switch_plan' },
    ]);
    expect((await plan('gold')).status).toBe(422);
  });

  it('a new team has the plan of DEFAULT_TEAM_PLAN', async () => {
    const ada = await buildPerson(app);
    await app.as(ada).post('/api/teams', { name: 'New' });
    expect((await me(ada)).body.plan).toBe('scale');
    Object.assign(app.services.config, { DEFAULT_TEAM_PLAN: 'free' });
    const bob = await buildPerson(app);
    await app.as(bob).post('/api/teams', { name: 'New' });
    Object.assign(app.services.config, { DEFAULT_TEAM_PLAN: 'scale' });
    expect((await me(bob)).body).toMatchObject({ plan: 'free', entitlements: [] });
  });
});
