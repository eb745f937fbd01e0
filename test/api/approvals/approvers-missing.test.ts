/** A decision that nobody of the team can approve says so: in the API, on its page, and to those who read it only. */
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRequest } from '../../factories/requests.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from '../web/browser.js';

let app: TestApp;
let team: TestTeam;
let admin: Browser;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
  await app.services.db('memberships').where({ user_id: team.manager.user_id }).update({ role: 'member' });
  admin = await signIn(app, team.admin);
});
afterAll(() => app.close());

const setManager = (role: string) => app.services.db('memberships').where({ user_id: team.manager.user_id }).update({ role });
const missing = async (kind: string, id: string, person: Person = team.member): Promise<number> =>
  (await app.as(person).get(`/api/approvals/${kind}/${id}`)).body.approvers_missing;

it('a change request of the only one who could approve it', async () => {
  const { request_id } = await buildRequest(app, team, team.admin);
  const read = async () => (await app.as(team.admin).get(`/api/change-requests/${request_id}`)).body.approvers_missing;
  const listed = async () => (await app.as(team.member).get(`/api/change-requests?team_id=${team.team_id}`)).body.requests;
  expect([await read(), await missing('request', request_id)]).toEqual([1, 1]);
  expect(await listed()).toMatchObject([{ request_id, approvers_missing: 1 }]);
  const { html } = await admin.get(`/app/approvals/request/${request_id}`);
  expect(html).toContain('Nobody in the team can approve this now: it needs a manager or an admin not behind it.');
  expect((await admin.get('/app/approvals')).html).toContain('Nobody in the team can approve this now');
  await setManager('manager');
  expect([await read(), await missing('request', request_id)]).toEqual([0, 0]);
  expect((await admin.get(`/app/approvals/request/${request_id}`)).html).not.toContain('Nobody in the team');
  await app.services.db('users').where({ user_id: team.manager.user_id }).update({ status: 'suspended' });
  expect(await read()).toBe(1);
  await app.services.db('users').where({ user_id: team.manager.user_id }).update({ status: 'active' });
  await setManager('member');
});

it('a gate that asks for more people than the team has, or for another than its creator', async () => {
  const two = { ...GATE, params: { required_approvals: 2 } };
  const { run_id } = await buildRun(app, team, { actions: [two] });
  expect(await missing('gate', run_id)).toBe(1);
  expect((await admin.get(`/app/approvals/gate/${run_id}`)).html).toContain(
    'Only 1 of the 2 approvals that it needs can be given now.',
  );
  const strict = { ...GATE, params: { allow_self_approval: false } };
  const own = await buildRun(app, team, { creator: team.admin, actions: [strict] });
  const list = (await app.as(team.guest).get('/api/automations/approvals')).body.approvals as { run_id: string }[];
  expect(list.find((one) => one.run_id === own.run_id)).toMatchObject({ approvers_missing: 1 });
  const personal = await buildRun(app, team, { creator: team.member, inTeam: false, actions: [GATE] });
  expect(await missing('gate', personal.run_id)).toBe(0);
  const stranger = await buildPerson(app);
  expect((await app.as(stranger).get(`/api/approvals/gate/${run_id}`)).body).not.toHaveProperty('approvers_missing');
  await app.as(team.admin).post(`/api/automations/runs/${run_id}/reject`, {});
  expect(await missing('gate', run_id)).toBe(0);
});
