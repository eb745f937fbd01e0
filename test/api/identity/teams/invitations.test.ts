import { deleteExpiredAccountData } from '../../../../api/identity/auth/delete-expired-account-data.js';
import { v7 as uuidv7 } from 'uuid';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Invitations by email.

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
/** Signs up with the address. */
async function signUp(email: string): Promise<Person> {
  const person = await buildPerson(app);
  await db()('users').where({ user_id: person.user_id }).update({ email });
  return { ...person, email };
}
const accept = (person: Person, id: string) => app.as(person).post(`/api/invitations/${id}/accept`);
const findAudit = (action: string) => db()('audit_entries').where({ team_id: team.team_id, action });

it('invites an address without an account, which becomes a member at its sign-up', async () => {
  const email = address();
  const answer = await invite(` ${email.toUpperCase()}`, 'manager');
  expect(answer).toMatchObject({
    status: 201,
    body: { invitation_id: expect.any(String), email, role: 'manager', status: 'pending', created_by: team.admin.user_id },
  });
  const { invitation_id, created_at, expires_at } = answer.body;
  expect((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000).toBe(7);
  expect((await app.as(team.admin).get(ofTeam())).body).toEqual([answer.body]);
  expect(await findAudit('invite')).toMatchObject([{ severity: 'MEDIUM', user_id: team.admin.user_id }]);

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
  expect(await findAudit('join')).toMatchObject([{ severity: 'MEDIUM', user_id: nina.user_id }]);
});

it('creates one membership for 10 concurrent accepts, and none after the user was removed', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  const nina = await signUp(email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(nina, invitation_id)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  expect(await findAudit('join')).toHaveLength(1);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${nina.user_id}`);
  expect((await accept(nina, invitation_id)).status).toBe(409);
  expect(await db()('memberships').where({ user_id: nina.user_id })).toEqual([]);
});

it('accepted and revoked concurrently, one of the two happens', async () => {
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

it('declined it is gone for both sides, and the team learns nothing; it may invite again', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  const nina = await signUp(email);
  const decline = () => app.as(nina).post(`/api/invitations/${invitation_id}/decline`);
  expect((await app.as(await signUp(address())).post(`/api/invitations/${invitation_id}/decline`)).status).toBe(404);
  expect(await decline()).toMatchObject({ status: 200, body: { success: true, invitation_id } });
  expect((await decline()).status).toBe(404);
  expect((await accept(nina, invitation_id)).status).toBe(404);
  expect((await app.as(nina).get('/api/invitations')).body).toEqual([]);
  expect((await app.as(team.admin).get(ofTeam())).body).toEqual([]);
  expect(await findAudit('decline')).toEqual([]);
  expect(await db()('audit_entries').where({ entity_id: nina.user_id, action: 'decline' })).toHaveLength(1);
  const again = await invite(email);
  expect(again.status).toBe(201);
  const answers = await Promise.all([
    accept(nina, again.body.invitation_id),
    app.as(nina).post(`/api/invitations/${again.body.invitation_id}/decline`),
  ]);
  expect([
    [200, 409],
    [404, 200],
  ]).toContainEqual(answers.map(({ status }) => status));
});

it('returns 404 for another address, a revoked one or a deleted team, and 200 for revoking it twice', async () => {
  const email = address();
  const { invitation_id } = (await invite(email)).body;
  expect((await accept(await signUp(address()), invitation_id)).status).toBe(404);
  const path = `${ofTeam()}/${invitation_id}`;
  for (const _again of [1, 2]) {
    expect((await app.as(team.admin).delete(path)).body).toEqual({ success: true, invitation_id });
  }
  expect(await findAudit('revoke_invitation')).toHaveLength(1);
  const nina = await signUp(email);
  expect((await accept(nina, invitation_id)).status).toBe(404);
  const again = (await invite(address())).body;
  const otto = await signUp(again.email);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect((await app.as(otto).get('/api/invitations')).body).toEqual([]);
  expect((await accept(otto, again.invitation_id)).status).toBe(404);
});

it('expires after seven days, and may then be sent anew', async () => {
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

it('a membership created by user_id closes the invitation', async () => {
  const email = address();
  const { invitation_id } = (await invite(email, 'admin')).body;
  const nina = await signUp(email);
  const given = await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: nina.user_id, role: 'guest' });
  expect(given.body).toMatchObject({ user_id: nina.user_id, role: 'guest' });
  expect((await accept(nina, invitation_id)).status).toBe(409);
  expect((await app.as(team.admin).get(`/api/teams/${team.team_id}/members`)).body).toContainEqual(
    expect.objectContaining({ user_id: nina.user_id, role: 'guest' }),
  );
});

describe('an address with an account', () => {
  /** All that the team's admin gets to see of an invitation, with what differs between any two of them left out. */
  async function readSeen(email: string) {
    const answer = await invite(email, 'manager');
    const { invitation_id, created_at, expires_at } = answer.body;
    const listed = (await app.as(team.admin).get(ofTeam())).body as { invitation_id: string }[];
    const members = (await app.as(team.admin).get(`/api/teams/${team.team_id}/members`)).body;
    const [entry] = await db()('audit_entries').where({ audit_id: answer.headers.get('x-correlation-id') });
    const [line] = (await app.as(team.admin).get(`/api/activity?team_id=${team.team_id}&limit=1`)).body;
    const again = await invite(email);
    const [mail] = await listMails(app.services, email);
    const headers = [...answer.headers].filter(([name]) => !['date', 'x-correlation-id', 'etag'].includes(name));
    const text = JSON.stringify({
      answer: [answer.status, answer.body, headers],
      listed: listed.filter((each) => each.invitation_id === invitation_id),
      members,
      again: [again.status, again.body.message, again.body.detail],
      mail: [mail?.subject, mail?.text, mail?.html],
      audit: [entry.action, entry.severity, entry.details],
      activity: [line.action, line.summary],
    });
    for (const each of [email, invitation_id, created_at, expires_at]) expect(text).toContain(each);
    return text
      .replaceAll(email, 'EMAIL')
      .replaceAll(invitation_id, 'ID')
      .replaceAll(/key=[\w-]+/g, 'KEY')
      .replaceAll(created_at, 'AT')
      .replaceAll(expires_at, 'UNTIL');
  }

  it('is invited as one without: nothing that the admin sees tells them apart', async () => {
    const unknown = await readSeen(address());
    const account = async (fields: object = {}) => {
      const person = await buildPerson(app, fields);
      const email = address();
      await db()('users').where({ user_id: person.user_id }).update({ email });
      return email;
    };
    expect(await readSeen(await account())).toBe(unknown);
    expect(await readSeen(await account({ status: 'suspended' }))).toBe(unknown);
    expect(await readSeen(await account({ status: 'deprovisioned' }))).toBe(unknown);
    expect(await readSeen(await account({ role: 'admin' }))).toBe(unknown);
  });

  it('has no membership before it accepts; it accepts once, in any way', async () => {
    const nina = await buildPerson(app);
    const { invitation_id } = (await invite(nina.email)).body;
    const members = async () => (await app.as(team.admin).get(`/api/teams/${team.team_id}`)).body.member_ids;
    expect(await members()).not.toContain(nina.user_id);
    expect((await app.as(nina).get(`/api/teams/${team.team_id}`)).status).toBe(403);
    expect(await findAudit('add_member')).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(nina, invitation_id)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await members()).toContain(nina.user_id);
    expect(await findAudit('join')).toMatchObject([{ user_id: nina.user_id }]);
  });

  it('returns 409 for a member of the team, and 201 once the member has left', async () => {
    expect(await invite(team.guest.email.toUpperCase())).toMatchObject({
      status: 409,
      body: { message: 'Already a member of this team' },
    });
    await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.guest.user_id}`);
    expect((await invite(team.guest.email)).status).toBe(201);
  });

  it('made at the moment of the invitation finds it', async () => {
    const email = address();
    const [invited, nina] = await Promise.all([invite(email), signUp(email)]);
    expect((await accept(nina, invited.body.invitation_id)).status).toBe(200);
  });

  it('is added by user_id and accepts concurrently: one membership', async () => {
    const nina = await buildPerson(app);
    const { invitation_id } = (await invite(nina.email, 'guest')).body;
    const [accepted, added] = await Promise.all([
      accept(nina, invitation_id),
      app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: nina.user_id, role: 'member' }),
    ]);
    expect([accepted.status, added.status].toSorted((a, b) => a - b)).toEqual(accepted.status === 200 ? [200, 409] : [201, 409]);
    expect(await db()('memberships').where({ team_id: team.team_id, user_id: nina.user_id })).toHaveLength(1);
    expect((await app.as(nina).get('/api/invitations')).body).toEqual([]);
  });
});

describe('nobody mails the world by way of us', () => {
  it('one address gets five invitations a day by mail, and finds all of them in the app; no team sees the others’', async () => {
    const nina = await buildPerson(app);
    const inviting = await Promise.all(Array.from({ length: 7 }, () => buildTeam(app)));
    const answers = await Promise.all(
      inviting.map(({ team_id, admin }) => app.as(admin).post(`/api/teams/${team_id}/members`, { email: nina.email })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const keys = answers.map(({ body }) => Object.keys(body).join());
    expect(new Set(keys).size).toBe(1);
    expect(await listMails(app.services, nina.email)).toHaveLength(5);
    expect((await app.as(nina).get('/api/invitations')).body).toHaveLength(7);
    const first = await app.as(nina).get('/api/invitations?limit=3');
    expect([first.body.length, first.headers.get('link')]).toEqual([3, expect.stringContaining('rel="next"')]);
  });

  it('taking an invitation back and sending it again does not mail on and on', async () => {
    const email = address();
    for (let round = 0; round < 7; round += 1) {
      const { invitation_id } = (await invite(email)).body;
      expect((await app.as(team.admin).delete(`${ofTeam()}/${invitation_id}`)).status).toBe(200);
    }
    expect(await listMails(app.services, email)).toHaveLength(2);
  });

  it('repeated invitations of an address do not use up the emails of other teams', async () => {
    const email = address();
    for (let round = 0; round < 7; round += 1) {
      const { invitation_id } = (await invite(email)).body;
      await app.as(team.admin).delete(`${ofTeam()}/${invitation_id}`);
    }
    const other = await buildTeam(app);
    expect((await app.as(other.admin).post(`/api/teams/${other.team_id}/members`, { email })).status).toBe(201);
    const mails = await listMails(app.services, email);
    expect([mails.length, mails[0]?.text.includes(`Team ${other.team_id}`)]).toEqual([3, true]);
  });

  it('returns 400 after 200 invitations of one user within a day, in any teams, revoked or not', async () => {
    const other = await buildTeam(app);
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.admin.user_id, role: 'admin' });
    await db().raw(
      `insert into invitations (team_id, email, role, invited_by, expires_at, revoked_at)
       select ?, n || '@many.test', 'member', ?, now() + interval '1 day', now() from generate_series(1, 199) n`,
      [other.team_id, team.admin.user_id],
    );
    expect((await invite(address())).status).toBe(201);
    expect(await invite(address())).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    await db()('invitations')
      .where({ team_id: other.team_id })
      .update({ created_at: db().raw("now() - interval '25 hours'") });
    expect((await invite(address())).status).toBe(201);
  });
});

it('deletes invitations a month after they ended, accepted, revoked or expired', async () => {
  const days = (count: number) => db().raw('now() - make_interval(days => ?)', [count]);
  const ended = async (fields: object) => {
    const { invitation_id } = (await invite(address())).body;
    await db()('invitations').where({ invitation_id }).update(fields);
    return invitation_id as string;
  };
  await ended({ accepted_at: days(31) });
  await ended({ revoked_at: days(31), expires_at: days(1) });
  await ended({ created_at: days(40), expires_at: days(31) });
  const kept = [
    await ended({ revoked_at: days(29) }),
    await ended({ expires_at: days(29) }),
    await ended({ expires_at: days(-1) }),
  ];
  await deleteExpiredAccountData(db());
  const left = await db()('invitations').where({ team_id: team.team_id }).pluck('invitation_id');
  expect(new Set(left)).toEqual(new Set(kept));
});

it('403 to everyone below admin, on sending, listing and taking back', async () => {
  const { invitation_id } = (await invite(address())).body;
  for (const person of [team.manager, team.member, team.guest, await buildPerson(app)]) {
    expect((await invite(address(), 'guest', person)).status).toBe(403);
    expect((await app.as(person).get(ofTeam())).status).toBe(403);
    expect((await app.as(person).delete(`${ofTeam()}/${invitation_id}`)).status).toBe(403);
  }
  expect(await findAudit('invite')).toHaveLength(1);
});
