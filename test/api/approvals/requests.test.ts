import { metrics } from '../../../api/platform/telemetry/metrics.js';
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

it('decides all or none, and counts what was decided', async () => {
  const other = await buildRequest(app, team, team.member);
  const count = async (): Promise<number> =>
    Number(/assent_change_requests_total\{end="approved"\} (\d+)/.exec(await metrics.metrics())?.[1] ?? 0);
  const toItem = ({ request_id, request_hash }: TestRequest) => ({ kind: 'request', id: request_id, staged_hash: request_hash });
  const decide = (...items: object[]) =>
    app.as(team.manager).post('/api/approvals/decide', { decision: 'approve', mode: 'all', items });
  const statuses = () =>
    app.services.db('change_requests').whereIn('request_id', [request.request_id, other.request_id]).pluck('status');
  const before = await count();
  const wrong = await decide(toItem(request), { ...toItem(other), staged_hash: `sha256:${'0'.repeat(64)}` });
  expect(wrong).toMatchObject({ status: 409, body: { item: { kind: 'request', id: other.request_id } } });
  expect([await statuses(), await count()]).toEqual([['pending', 'pending'], before]);
  expect((await decide(toItem(request), toItem(other))).status).toBe(200);
  expect([await statuses(), await count()]).toEqual([['approved', 'approved'], before + 2]);
});
