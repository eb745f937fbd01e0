import { buildPerson, buildTeam, buildToken, type TestTeam } from '../../factories/people.js';
import { buildRequest, OPERATION, type TestRequest } from '../../factories/requests.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
let team: TestTeam;
let request: TestRequest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  request = await buildRequest(app, team, team.member, { operation: { ...OPERATION, arguments: { iban: 'DE-of-the-member' } } });
});

it('a token reads change requests with their scope only, among all decisions too', async () => {
  const one = `/api/approvals/request/${request.request_id}`;
  const weak = app.as(await buildToken(app, team.manager, ['automations:read']));
  expect((await weak.get(one)).status).toBe(403);
  expect((await weak.get('/api/approvals?kind=request')).status).toBe(403);
  expect(JSON.stringify((await weak.get('/api/approvals')).body)).not.toContain('DE-of-the-member');
  for (const reader of [await buildToken(app, team.manager, ['automations:read', 'requests:read']), team.manager]) {
    expect((await app.as(reader).get(one)).status).toBe(200);
    expect((await app.as(reader).get('/api/approvals')).body).toMatchObject([{ id: request.request_id }]);
  }
});

it('an administrator who acts as a member reads no change request, among all decisions too', async () => {
  const root = await buildPerson(app, { role: 'admin' });
  const reason = 'A ticket of the support';
  const { body } = await app.as(root).post('/api/admin/impersonate', { user_id: team.manager.user_id, reason });
  const acting = app.as(body as { token: string });
  expect((await acting.get(`/api/change-requests/${request.request_id}`)).status).toBe(403);
  expect((await acting.get(`/api/approvals/request/${request.request_id}`)).status).toBe(403);
  expect(JSON.stringify((await acting.get('/api/approvals')).body)).not.toContain('DE-of-the-member');
  const page = await fetch(`${app.url}/app/approvals`, { headers: { cookie: `token=${body.token}` } });
  expect(await page.text()).not.toContain('DE-of-the-member');
});
