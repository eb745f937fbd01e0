import { v7 as uuidv7 } from 'uuid';
import { listMails } from '../../../api/mail/list-mails.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

// Invitations by mail (decision B2).

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const address = (): string => `${uuidv7()}@invited.test`;
const ofTeam = () => `/api/teams/${team.team_id}/invitations`;
const invite = (email: string, role?: string, by: Person = team.admin) =>
  app.as(by).post(`/api/teams/${team.team_id}/members`, { email, ...(role ? { role } : {}) });
/** Whoever signs up with the address. */
async function signUp(email: string): Promise<Person> {
  const person = await buildPerson(app);
  await db()('users').where({ user_id: person.user_id }).update({ email });
  return { ...person, email };
}
const accept = (person: Person, id: string) => app.as(person).post(`/api/invitations/${id}/accept`);
const auditOf = (action: string) => db()('audit_entries').where({ team_id: team.team_id, action });

it('an address without an account is invited, and whoever signs up with it takes the seat', async () => {
  const email = address();
  const answer = await invite(` ${email.toUpperCase()}`, 'manager');
  expect(answer).toMatchObject({
    status: 201,
    body: { invitation_id: expect.any(String), email, role: 'manager', status: 'pending', invited_by: team.admin.user_id },
  });
  const { invitation_id, created_at, expires_at } = answer.body;
  expect((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000).toBe(7);
  expect((await app.as(team.admin).get(ofTeam())).body).toEqual([answer.body]);
  expect(await auditOf('invite')).toMatchObject([{ severity: 'MEDIUM', user_id: team.admin.user_id }]);

  const [mail, ...more] = await listMails(app.services, email);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ to: email, subject: `You are invited to Team ${team.team_id}` });
  expect(mail?.text).toContain('as manager');

  const nina = await signUp(email);
  expect((await app.as(nina).get(`/api/teams/${team.team_id}`)).status).toBe(403);
  expect((await app.as(nina).get('/api/invitations')).body).toMatchObject([
    { invitation_id, team_id: team.team_id, team_name: `Team ${team.team_id}`, role: 'manager' },
  ]);
  expect(await accept(nina, invitation_id)).toMatchObject({ status: 200, body: { user_id: nina.user_id, role: 'manager' } });
  expect((await app.as(nina).get(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect((await app.as(nina).get('/api/invitations')).body).toEqual([]);
  expect((await app.as(team.admin).get(ofTeam())).body).toEqual([]);
  expect(await auditOf('join')).toMatchObject([{ severity: 'MEDIUM', user_id: nina.user_id }]);
});

it('accepted 10 times at once it gives one seat, and none again after the person was removed', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  const nina = await signUp(email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(nina, invitation_id)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  expect(await auditOf('join')).toHaveLength(1);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${nina.user_id}`);
  expect((await accept(nina, invitation_id)).status).toBe(409);
  expect(await db()('memberships').where({ user_id: nina.user_id })).toEqual([]);
});

it('accepted and taken back at once, one of the two happens', async () => {
  for (let round = 0; round < 10; round += 1) {
    const email = address();
    const { invitation_id } = (await invite(email)).body;
    const nina = await signUp(email);
    const [accepted, revoked] = await Promise.all([
      accept(nina, invitation_id),
      app.as(team.admin).delete(`${ofTeam()}/${invitation_id}`),
    ]);
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([accepted.status, revoked.status]);
    expect(await db()('memberships').where({ user_id: nina.user_id })).toHaveLength(accepted.status === 200 ? 1 : 0);
  }
});

it('404 for another address, for one taken back, for a deleted team; taking back again is 200', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  expect((await accept(await signUp(address()), invitation_id)).status).toBe(404);
  const path = `${ofTeam()}/${invitation_id}`;
  for (const _again of [1, 2]) {
    expect((await app.as(team.admin).delete(path)).body).toEqual({ success: true, invitation_id });
  }
  expect(await auditOf('revoke_invitation')).toHaveLength(1);
  const nina = await signUp(email);
  expect((await accept(nina, invitation_id)).status).toBe(404);
  const again = (await invite(address())).body;
  const otto = await signUp(again.email);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect((await app.as(otto).get('/api/invitations')).body).toEqual([]);
  expect((await accept(otto, again.invitation_id)).status).toBe(404);
});

it('lapses after seven days, and may then be sent anew', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  expect((await invite(email)).status).toBe(409);
  await db()('invitations').where({ invitation_id }).update({ expires_at: new Date() });
  expect((await app.as(team.admin).get(ofTeam())).body).toMatchObject([{ invitation_id, status: 'expired' }]);
  const renewed = await invite(email, 'guest');
  expect(renewed).toMatchObject({ status: 201, body: { role: 'guest', status: 'pending' } });
  await db()('invitations').where({ email }).update({ expires_at: new Date() });
  const nina = await signUp(email);
  expect((await app.as(nina).get('/api/invitations')).body).toEqual([]);
  expect((await accept(nina, renewed.body.invitation_id)).status).toBe(409);
});

it('one invitation an address, however many ask at once; 100 open ones a team', async () => {
  const email = address();
  const answers = await Promise.all(Array.from({ length: 10 }, () => invite(email)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  expect(await listMails(app.services, email)).toHaveLength(1);
  await db().raw(
    `insert into invitations (team_id, email, role, invited_by, expires_at)
     select ?, n || '@many.test', 'member', ?, now() + interval '1 day' from generate_series(1, 98) n`,
    [team.team_id, team.admin.user_id],
  );
  const last = await Promise.all([invite(address()), invite(address()), invite(address())]);
  expect(last.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
});

it.each<[string, (admin: Person) => Promise<unknown>]>([
  ['leaves', (admin) => app.as(admin).delete(`/api/teams/${team.team_id}/members/${admin.user_id}`)],
  ['is admin no more', (admin) => app.as(admin).patch(`/api/teams/${team.team_id}/members/${admin.user_id}`, { role: 'member' })],
  ['is suspended', ({ user_id }) => db()('users').where({ user_id }).update({ status: 'suspended' })],
  ['has left for good', ({ user_id }) => db()('users').where({ user_id }).update({ status: 'deprovisioned' })],
])('an admin who invites an address of their own and then %s has no way back', async (_what, goes) => {
  const other = team.manager;
  await app.as(team.admin).patch(`/api/teams/${team.team_id}/members/${other.user_id}`, { role: 'admin' });
  const [theirs, others] = [address(), address()];
  const { invitation_id } = (await invite(theirs, 'admin')).body;
  const kept = (await invite(others, 'member', other)).body;
  await goes(team.admin);
  const again = await signUp(theirs);
  expect((await app.as(again).get('/api/invitations')).body).toEqual([]);
  expect((await accept(again, invitation_id)).status).toBe(404);
  expect((await accept(await signUp(others), kept.invitation_id)).status).toBe(200);
});

it('a seat given by hand closes the invitation', async () => {
  const email = address();
  const { invitation_id } = (await invite(email, 'admin')).body;
  const nina = await signUp(email);
  expect((await invite(email, 'guest')).body).toMatchObject({ user_id: nina.user_id, role: 'guest' });
  expect((await accept(nina, invitation_id)).status).toBe(409);
  expect((await app.as(team.admin).get(`/api/teams/${team.team_id}/members`)).body).toContainEqual(
    expect.objectContaining({ user_id: nina.user_id, role: 'guest' }),
  );
});

it('403 to everyone below admin, on sending, listing and taking back', async () => {
  const { invitation_id } = (await invite(address())).body;
  for (const person of [team.manager, team.member, team.guest, await buildPerson(app)]) {
    expect((await invite(address(), 'guest', person)).status).toBe(403);
    expect((await app.as(person).get(ofTeam())).status).toBe(403);
    expect((await app.as(person).delete(`${ofTeam()}/${invitation_id}`)).status).toBe(403);
  }
  expect(await auditOf('invite')).toHaveLength(1);
});
