import { v7 as uuidv7 } from 'uuid';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, startSibling, type TestApp } from '../../../support/app.js';

// Who becomes a member without being asked, and what the inviting team learns.

/** Users may be added directly, as outside production. */
let direct: TestApp;
/** The same database with MEMBERSHIP_CONSENT=required. */
let app: Pick<TestApp, 'as' | 'close'>;
let team: TestTeam;
beforeAll(async () => {
  direct = await startApp();
  app = await startSibling(direct, { MEMBERSHIP_CONSENT: 'required', TEAMS_PER_USER: 3 });
});
afterAll(async () => {
  await app.close();
  await direct.close();
});
beforeEach(async () => {
  team = await buildTeam(direct);
});

const db = () => direct.services.db;
const add = (user_id: string, { by = team.admin, to = app }: { by?: Person; to?: Pick<TestApp, 'as'> } = {}) =>
  to.as(by).post(`/api/teams/${team.team_id}/members`, { user_id });
const pending = async (by: Person = team.admin) => (await app.as(by).get(`/api/teams/${team.team_id}/invitations`)).body;
const isMember = async (person: Person) => (await app.as(person).get(`/api/teams/${team.team_id}`)).status === 200;

/** Everything that the team's admins can read about the team. */
async function whatAdminsSee(): Promise<string> {
  const admin = app.as(team.admin);
  const answers = [
    await admin.get(`/api/teams/${team.team_id}/invitations`),
    await admin.get(`/api/teams/${team.team_id}/members`),
    await admin.get(`/api/activity?team_id=${team.team_id}`),
    await admin.get(`/api/audit/logs?team_id=${team.team_id}`),
    await admin.post('/api/audit/export', { format: 'json', team_id: team.team_id }),
  ];
  for (const { status } of answers) expect(status).toBe(200);
  return JSON.stringify(answers.map(({ body }) => body));
}

it('a user who shares no team with the admin is invited by id, and neither name nor address is told before they join', async () => {
  const stranger = await buildPerson(direct);
  const { display_name } = await db()('users').where({ user_id: stranger.user_id }).first('display_name');
  const answer = await add(stranger.user_id);
  expect(answer).toMatchObject({ status: 202, body: { success: true, status: 'invited', invitation_id: expect.any(String) } });
  expect(Object.keys(answer.body)).toEqual(['success', 'status', 'invitation_id']);
  expect(await isMember(stranger)).toBe(false);
  expect(await pending()).toMatchObject([{ invitation_id: answer.body.invitation_id, email: null, user_id: stranger.user_id }]);
  const seen = await whatAdminsSee();
  for (const secret of [stranger.email, display_name]) expect(seen).not.toContain(secret);

  expect(await add(stranger.user_id)).toMatchObject({ status: 409, body: { message: 'This user is already invited' } });
  expect((await listMails(direct.services, stranger.email)).map(({ subject }) => subject)).toEqual([
    `You are invited to Team ${team.team_id}`,
  ]);
  const other = await buildPerson(direct);
  const accept = (by: Person) => app.as(by).post(`/api/invitations/${answer.body.invitation_id}/accept`);
  expect((await accept(other)).status).toBe(404);
  expect((await app.as(stranger).get('/api/invitations')).body).toMatchObject([{ team_id: team.team_id }]);
  const both = await Promise.all([accept(stranger), accept(stranger)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect([await isMember(stranger), await pending()]).toEqual([true, []]);
});

it('an invitation by id and one by the address of the same user do not collide, which would tell whose address it is', async () => {
  const stranger = await buildPerson(direct);
  const byAddress = await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { email: stranger.email });
  expect([byAddress.status, (await add(stranger.user_id)).status]).toEqual([201, 202]);
  expect((await pending()).length).toBe(2);
  await app.as(stranger).post(`/api/invitations/${byAddress.body.invitation_id}/accept`);
  expect([await isMember(stranger), await pending()]).toEqual([true, []]);
});

it('two admins who add the same stranger at once make one invitation, and revoking it closes the way', async () => {
  const stranger = await buildPerson(direct);
  const second = await buildPerson(direct);
  await add(second.user_id, { to: direct });
  await db()('memberships').where({ user_id: second.user_id, team_id: team.team_id }).update({ role: 'admin' });
  const answers = await Promise.all([add(stranger.user_id), add(stranger.user_id, { by: second })]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
  const [{ invitation_id }] = await pending();
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}/invitations/${invitation_id}`)).status).toBe(200);
  expect((await app.as(stranger).post(`/api/invitations/${invitation_id}/accept`)).status).toBe(404);
  expect(await whatAdminsSee()).not.toContain(stranger.email);
});

it('a colleague becomes a member at once, unknown users are 404, members 409; so does every user where it is allowed', async () => {
  const colleague = await buildPerson(direct);
  const other = await buildTeam(direct);
  for (const user_id of [colleague.user_id, team.admin.user_id]) {
    await db()('memberships').insert({ team_id: other.team_id, user_id, role: 'guest' });
  }
  expect(await add(colleague.user_id)).toMatchObject({ status: 201, body: { user_id: colleague.user_id, role: 'member' } });
  expect((await add(colleague.user_id)).status).toBe(409);
  expect((await add(uuidv7())).status).toBe(404);
  const stranger = await buildPerson(direct);
  expect(await add(stranger.user_id, { to: direct })).toMatchObject({ status: 201, body: { user_id: stranger.user_id } });
});

it('a team that was deleted makes nobody a colleague', async () => {
  const former = await buildPerson(direct);
  const gone = await buildTeam(direct);
  for (const user_id of [former.user_id, team.admin.user_id]) {
    await db()('memberships').insert({ team_id: gone.team_id, user_id, role: 'member' });
  }
  await db()('teams').where({ team_id: gone.team_id }).update({ deleted_at: new Date() });
  expect((await add(former.user_id)).status).toBe(202);
});

it('a new team adds colleagues, invites strangers and lists unknown ids', async () => {
  const [founder, colleague, stranger] = [await buildPerson(direct), await buildPerson(direct), await buildPerson(direct)];
  for (const { user_id } of [founder, colleague]) {
    await db()('memberships').insert({ team_id: team.team_id, user_id, role: 'member' });
  }
  const unknown = uuidv7();
  const member_ids = [stranger.user_id, colleague.user_id, unknown];
  const made = await app.as(founder).post('/api/teams', { name: 'Fleet', member_ids });
  expect(made).toMatchObject({
    status: 201,
    body: {
      member_ids: [founder.user_id, colleague.user_id],
      ignored_member_ids: [unknown],
      invited_member_ids: [stranger.user_id],
    },
  });
  expect((await app.as(stranger).get('/api/invitations')).body).toMatchObject([{ team_name: 'Fleet' }]);
  const added = await direct.as(founder).post('/api/teams', { name: 'Second', member_ids });
  expect(added.body).toMatchObject({ invited_member_ids: [], ignored_member_ids: [unknown] });
  expect(added.body.member_ids).toContain(stranger.user_id);
});

it('two people who invite the same strangers at once, in opposite orders, both have their team', async () => {
  const strangers = await Promise.all(Array.from({ length: 60 }, () => buildPerson(direct)));
  const ids = strangers.map(({ user_id }) => user_id);
  const [one, two] = [await buildPerson(direct), await buildPerson(direct)];
  const answers = await Promise.all([
    app.as(one).post('/api/teams', { name: 'Forth', member_ids: ids }),
    app.as(two).post('/api/teams', { name: 'Back', member_ids: ids.toReversed() }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(answers.map(({ body }) => body.invited_member_ids)).toEqual([ids, ids.toReversed()]);
});

it('notifies an added user who added them, in the app and by email; a guest may leave too', async () => {
  const person = await buildPerson(direct);
  const answer = await direct
    .as(team.admin)
    .post(`/api/teams/${team.team_id}/members`, { user_id: person.user_id, role: 'guest' });
  expect(answer.status).toBe(201);
  const [notice] = (await direct.as(person).get('/api/notifications')).body;
  expect(notice).toMatchObject({ kind: 'member_added', team_id: team.team_id });
  const { display_name } = await db()('users').where({ user_id: team.admin.user_id }).first('display_name');
  expect(notice.message).toBe(
    `${display_name} added you to the team “Team ${team.team_id}” as guest. If you did not expect it, leave the team on its page.`,
  );
  const [mail] = await listMails(direct.services, person.email);
  expect(mail?.subject).toBe('You were added to a team');
  expect(mail?.text).toContain(`/app/teams/${team.team_id}#leave`);
  expect(mail?.text).toContain(`Added by: ${display_name}`);
  const left = await direct.as(person).delete(`/api/teams/${team.team_id}/members/${person.user_id}`);
  expect(left).toMatchObject({ status: 200, body: { success: true, removed: person.user_id } });
  expect(await isMember(person)).toBe(false);
});

it('a guest removes nobody else', async () => {
  const { guest, member } = team;
  expect((await direct.as(guest).delete(`/api/teams/${team.team_id}/members/${member.user_id}`)).status).toBe(403);
});

it('a user creates a limited number of teams, also all at once; a deleted one makes room', async () => {
  const founder = await buildPerson(direct);
  const make = () => app.as(founder).post('/api/teams', { name: 'One more' });
  const answers = await Promise.all(Array.from({ length: 8 }, make));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 201, 400, 400, 400, 400, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body).toMatchObject({
    error_code: 'QUOTA_EXCEEDED',
    detail: 'Delete a team that you do not need, or ask the operator of this installation to raise TEAMS_PER_USER.',
  });
  const kept = answers.find(({ status }) => status === 201);
  expect((await app.as(founder).delete(`/api/teams/${kept?.body.team_id}`)).status).toBe(200);
  expect((await make()).status).toBe(201);
  expect((await make()).status).toBe(400);
});
