import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let url: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  url = `/api/teams/${team.team_id}/members`;
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
const findEvents = (subject: string) => app.services.db('outbox').where({ subject, team_id: team.team_id }).orderBy('outbox_id');
const findAdmins = () => app.services.db('memberships').where({ team_id: team.team_id, role: 'admin' });
const belowAdmin = async () => [team.manager, team.member, team.guest, await buildPerson(app)];

it('lists the members with their roles, for guests too', async () => {
  const { status, body } = await app.as(team.guest).get(url);
  expect(status).toBe(200);
  expect(body).toHaveLength(4);
  expect(body.find(({ user_id }: Person) => user_id === team.guest.user_id)).toMatchObject({
    email: team.guest.email,
    role: 'guest',
    is_guest: true,
  });
  expect(body.filter(({ is_guest }: { is_guest: boolean }) => is_guest)).toHaveLength(1);
});

describe('POST /api/teams/:team_id/members', () => {
  it('201 adds by user_id, as member unless said otherwise, and leaves a trace', async () => {
    const [nina, otto] = [await buildPerson(app), await buildPerson(app)];
    const first = await app.as(team.admin).post(url, { user_id: nina.user_id });
    expect(first).toMatchObject({ status: 201, body: { user_id: nina.user_id, role: 'member', is_guest: false } });
    const second = await app.as(team.admin).post(url, { user_id: otto.user_id, role: 'guest' });
    expect(second).toMatchObject({ status: 201, body: { user_id: otto.user_id, role: 'guest', is_guest: true } });
    expect((await app.as(nina).get(`/api/teams/${team.team_id}`)).body.member_ids).toContain(otto.user_id);
    const [entry] = await findAudit(team.team_id);
    expect(entry).toMatchObject({
      feature: 'teams',
      action: 'add_member',
      severity: 'MEDIUM',
      audit_id: first.headers.get('x-correlation-id'),
    });
    const [event] = await findEvents('team.member_added');
    expect(event.payload).toEqual({ actor_id: team.admin.user_id, member: first.body });
  });

  it('409 refuses a member; one of 10 racing calls adds', async () => {
    const nina = await buildPerson(app);
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.as(team.admin).post(url, { user_id: nina.user_id })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await findAudit(team.team_id)).toHaveLength(1);
  });

  it('404 refuses nobody: unknown and malformed ids, a deprovisioned person', async () => {
    const gone = await buildPerson(app, { status: 'deprovisioned' });
    for (const who of [{ user_id: UNKNOWN }, { user_id: 'garbage' }, { user_id: gone.user_id }]) {
      expect((await app.as(team.admin).post(url, who)).status).toBe(404);
    }
    expect((await app.as(team.admin).post('/api/teams/garbage/members', { user_id: UNKNOWN })).status).toBe(404);
  });

  it.each([
    ['neither id nor address', {}],
    ['both', { user_id: UNKNOWN, email: 'a@b.test' }],
    ['a role that is none', { user_id: UNKNOWN, role: 'owner' }],
    ['a NUL in the address', { email: 'a\0@b.test' }],
    ['two addresses', { email: 'a@b.test,c@d.test' }],
    ['a second line for the mail’s head', { email: 'a@b.test\r\nBcc:c@d.test' }],
    ['a control character that is a blank to some', { email: 'a\u001c@b.test' }],
    ['a blank that is none to some', { email: 'a\u0085b@c.test' }],
    ['a byte order mark within', { email: 'a\ufeffb@c.test' }],
    ['a name around the address', { email: 'Eve <a@b.test>' }],
  ])('422 refuses %s', async (_what, body) => {
    expect((await app.as(team.admin).post(url, body)).status).toBe(422);
  });

  it('403 refuses everyone below admin', async () => {
    const nina = await buildPerson(app);
    for (const person of await belowAdmin()) {
      expect((await app.as(person).post(url, { user_id: nina.user_id })).status).toBe(403);
    }
  });
});

describe('PATCH /api/teams/:team_id/members/:user_id', () => {
  it('200 changes the role and leaves a HIGH entry; the same role leaves none', async () => {
    const admin = app.as(team.admin);
    const path = `${url}/${team.member.user_id}`;
    expect((await admin.patch(path, { role: 'member' })).body).toMatchObject({ role: 'member' });
    expect((await admin.patch(path, { role: 'guest' })).body).toMatchObject({ role: 'guest', is_guest: true });
    const entries = await findAudit(team.team_id);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ action: 'change_role', severity: 'HIGH' });
    expect(JSON.parse(entries[0].details)).toEqual({
      user_id: team.member.user_id,
      changes: { role: { from: 'member', to: 'guest' } },
    });
    expect((await app.as(team.member).post('/api/projects', { name: 'x', team_id: team.team_id })).status).toBe(403);
  });

  it('409 keeps the last admin, 404 an unknown member, 422 an unknown role, 403 below admin', async () => {
    const admin = app.as(team.admin);
    expect((await admin.patch(`${url}/${team.admin.user_id}`, { role: 'member' })).status).toBe(409);
    expect((await admin.patch(`${url}/${UNKNOWN}`, { role: 'member' })).status).toBe(404);
    expect((await admin.patch(`${url}/garbage`, { role: 'member' })).status).toBe(404);
    expect((await admin.patch(`${url}/${team.guest.user_id}`, { role: 'owner' })).status).toBe(422);
    for (const person of await belowAdmin()) {
      expect((await app.as(person).patch(`${url}/${team.guest.user_id}`, { role: 'admin' })).status).toBe(403);
    }
    expect(await findAudit(team.team_id)).toEqual([]);
  });
});

describe('DELETE /api/teams/:team_id/members/:user_id', () => {
  it('200 removes, unassigns the open tasks only, and leaves a trace of each', async () => {
    const project = await buildProject(app, team);
    const mine = { assigned_to: team.member.user_id };
    const open = await buildTask(app, team, project, mine);
    const done = await buildTask(app, team, project, { ...mine, status: 'done' });
    const trashed = await buildTask(app, team, project, mine);
    await app.as(team.manager).delete(`/api/tasks/${trashed.task_id}`);
    const answer = await app.as(team.admin).delete(`${url}/${team.member.user_id}`);
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, removed: team.member.user_id, unassigned_tasks: 1 },
    });
    const assignee = async ({ task_id }: { task_id: string }) =>
      (await app.services.db('tasks').where({ task_id }).first('assigned_to', 'version')) as { assigned_to: string | null };
    expect(await assignee(open)).toEqual({ assigned_to: null, version: 2 });
    expect(await assignee(done)).toEqual({ assigned_to: team.member.user_id, version: 1 });
    expect(await assignee(trashed)).toMatchObject({ assigned_to: null });
    expect(await findAudit(team.team_id)).toMatchObject([
      { action: 'remove_member', severity: 'MEDIUM', audit_id: answer.headers.get('x-correlation-id') },
    ]);
    const last = (await findAudit(open.task_id)).at(-1);
    expect(last).toMatchObject({ action: 'update', correlation_id: answer.headers.get('x-correlation-id') });
    expect((await findAudit(trashed.task_id)).map(({ action }) => action)).toEqual(['create', 'delete', 'update']);
    const changes = { assigned_to: { from: team.member.user_id, to: null } };
    expect(JSON.parse(last.details)).toMatchObject({ changes, version: 2 });
    const updates = await findEvents('task.updated');
    expect(updates.map(({ payload }) => payload)).toMatchObject([
      { task: { task_id: open.task_id, assigned_to: null }, changes },
    ]);
    const [event] = await findEvents('team.member_removed');
    expect(event.payload).toMatchObject({ member: { user_id: team.member.user_id, role: 'member' } });
    expect((await app.as(team.member).get(`/api/teams/${team.team_id}`)).status).toBe(403);
  });

  it('200 lets everyone below an admin leave, guests too; 403 refuses to remove others', async () => {
    for (const person of await belowAdmin()) {
      expect((await app.as(person).delete(`${url}/${team.admin.user_id}`)).status).toBe(403);
    }
    for (const { user_id, token } of [team.manager, team.member, team.guest]) {
      expect(await app.as(token).delete(`${url}/${user_id}`)).toMatchObject({ status: 200, body: { unassigned_tasks: 0 } });
    }
  });

  it('returns 409 for the last admin and 404 for a user who is no member', async () => {
    expect(await app.as(team.admin).delete(`${url}/${team.admin.user_id}`)).toMatchObject({
      status: 409,
      body: { detail: 'Make another member an admin first, or delete the team.' },
    });
    for (const id of [UNKNOWN, 'garbage', (await buildPerson(app)).user_id]) {
      expect((await app.as(team.admin).delete(`${url}/${id}`)).status).toBe(404);
    }
    expect((await app.as(team.admin).delete(`/api/teams/${UNKNOWN}/members/${team.member.user_id}`)).status).toBe(404);
    expect(await findAudit(team.team_id)).toEqual([]);
  });

  it('20 parallel removals of the last two admins leave one', async () => {
    const second = await buildPerson(app);
    await app.as(team.admin).post(url, { user_id: second.user_id, role: 'admin' });
    const pair = [team.admin, second];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        app.as(pair[i % 2] as Person).delete(`${url}/${(pair[Math.floor(i / 2) % 2] as Person).user_id}`),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 403, 404, 409].includes(status))).toBe(true);
    expect(await findAdmins()).toHaveLength(1);
    expect((await findAudit(team.team_id)).filter(({ action }) => action === 'remove_member')).toHaveLength(1);
  });

  it('10 parallel demotions of two admins by each other leave one', async () => {
    const second = await buildPerson(app);
    await app.as(team.admin).post(url, { user_id: second.user_id, role: 'admin' });
    const pair = [team.admin, second];
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        app.as(pair[i % 2] as Person).patch(`${url}/${(pair[(i + 1) % 2] as Person).user_id}`, { role: 'member' }),
      ),
    );
    expect(await findAdmins()).toHaveLength(1);
  });

  it('no task is left with a person who was removed at the same time', async () => {
    const project = await buildProject(app, team);
    for (let round = 0; round < 10; round += 1) {
      const leaver = await buildPerson(app);
      await app.as(team.admin).post(url, { user_id: leaver.user_id });
      const assigned_to = leaver.user_id;
      const old = await buildTask(app, team, project, { assigned_to });
      const [removed, ...others] = await Promise.all([
        app.as(team.admin).delete(`${url}/${leaver.user_id}`),
        app.as(team.member).post('/api/tasks', { title: 'New', project_id: project.project_id, assigned_to }),
        app.as(leaver).patch(`/api/tasks/${old.task_id}`, { title: `round ${round}` }),
        app.as(leaver).post('/api/tasks', { title: 'Below', project_id: project.project_id, parent_task_id: old.task_id }),
      ]);
      expect(removed.status).toBe(200);
      expect(others.every(({ status }) => [200, 201, 400, 403].includes(status))).toBe(true);
      expect(await app.services.db('tasks').where({ assigned_to })).toEqual([]);
    }
  });
});
