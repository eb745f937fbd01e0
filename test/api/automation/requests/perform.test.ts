import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { verifyReceipt } from '../../../../clients/typescript/receipts.js';
import { performRequest } from '../../../../api/automation/requests/perform-request.js';
import { metrics } from '../../../../api/platform/telemetry/metrics.js';
import { deleteOldResults } from '../../../../api/gate/requests/waiting/delete-old-requests.js';
import { buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { about, buildRequest, type TestRequest } from '../../../factories/requests.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp({ OUTBOUND_LOOPBACK: 'allow' }, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const db = () => app.services.db;
const as = (who: Person | string, request: TestRequest) => about(app.as(who), request);
const ask = (http: object, by: Person = team.member, fields: object = {}) =>
  buildRequest(app, team, by, { operation: undefined, http, ...fields });
const refused = async (http: object) =>
  (await app.as(team.member).post('/api/change-requests', { team_id: team.team_id, title: 'x', http })).body;
const saveSecret = (name: string, value: string, allowed_hosts: string[]) =>
  app.as(team.admin).post('/api/automations/secrets', { team_id: team.team_id, name, value, allowed_hosts });
const perform = (request: TestRequest) => performRequest(app.services, request.request_id);
async function approved(http: object, by?: Person): Promise<TestRequest> {
  const request = await ask(http, by);
  expect((await as(by === team.manager ? team.admin : team.manager, request).approve()).body).toMatchObject({
    status: 'approved',
  });
  return request;
}
/** Whether something waits for a row that a transaction has changed. */
const WAITING = `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  and query like '%receipt_seconds%') as waits`;
const countRedeemed = async (): Promise<number> =>
  Number(/assent_change_requests_total\{end="redeemed"\} (\d+)/.exec(await metrics.metrics())?.[1] ?? 0);

describe('a request that Assent sends', () => {
  it('is shown with the names of its secrets, and sent once with their values and a receipt', async () => {
    await saveSecret('DEPLOY_KEY', 'hunter2-hunter2', ['127.0.0.1']);
    const http = {
      method: 'POST',
      url: `${receiver.url}/deploy?key={{secret:DEPLOY_KEY}}`,
      headers: { authorization: 'Bearer {{secret:DEPLOY_KEY}}' },
      body: { version: '4.2' },
    };
    const request = await ask(http);
    const shown = (await as(team.manager, request).read()).body;
    expect(shown).toMatchObject({
      executor: 'assent',
      operations: [{ system: `http.${new URL(receiver.url).host}`, name: 'POST', target: `${receiver.url}/deploy` }],
    });
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    await as(team.manager, request).approve();
    expect((await as(team.member, request).redeem()).body).toMatchObject({ reason: 'performed_by_assent' });
    receiver.answer(({ headers }, response) => response.end(`you sent ${headers.authorization}`));
    expect(await Promise.all([perform(request), perform(request)])).toContainEqual({ outcome: 'succeeded' });
    expect(receiver.received).toHaveLength(1);
    const [sent] = receiver.received;
    expect(sent).toMatchObject({ method: 'POST', url: '/deploy?key=hunter2-hunter2', body: '{"version":"4.2"}' });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer hunter2-hunter2', 'idempotency-key': request.request_id });
    const { jwks, text } = { jwks: (await app.as().get('/api/receipts/jwks')).body, text: shown.operations[0] };
    const canonical = { system: text.system, name: text.name, target: text.target, arguments: text.arguments };
    const issuer = new URL(shown.url).origin;
    const options = { jwks, issuer, team: team.team_id, system: text.system, firstUse: () => true };
    const sorted = JSON.stringify({
      arguments: { body: http.body, headers: http.headers, url: http.url },
      name: canonical.name,
      system: canonical.system,
      target: canonical.target,
    });
    expect(await verifyReceipt(sent?.headers['assent-receipt'] as string, sorted, options)).toEqual(canonical);
    const done = (await as(team.member, request).read()).body;
    expect(done).toMatchObject({
      status: 'redeemed',
      redeemed_by: null,
      outcome: { status: 'succeeded', details: { http_status: 200 } },
    });
    const result = await app.as(team.member).get(`/api/change-requests/${request.request_id}/result`);
    expect(result.body).toEqual({ status: 'succeeded', result: 'you sent Bearer [secret]', is_cut: false });
    expect((await app.as(team.manager).get(`/api/change-requests/${request.request_id}/result`)).status).toBe(403);
    await db()('change_request_results').update({ stored_at: db().raw("now() - interval '8 days'") });
    expect(await deleteOldResults(app.services)).toBe(1);
  });

  it('is not sent again after the process died with it under way: its outcome is unknown', async () => {
    const request = await approved({ method: 'POST', url: receiver.url });
    receiver.answer(() => undefined);
    const first = perform(request);
    while (receiver.received.length === 0) await new Promise((done) => setTimeout(done, 10));
    expect(await perform(request)).toEqual({ outcome: 'unknown' });
    receiver.close();
    expect(await first).toEqual({ outcome: 'unknown' });
    expect(receiver.received).toHaveLength(1);
    expect((await as(team.member, request).read()).body.outcome).toMatchObject({ status: 'unknown' });
  });

  it('a late answer replaces an unknown outcome', async () => {
    const request = await approved({ method: 'POST', url: receiver.url });
    let answer = (): void => undefined;
    receiver.answer((_request, response) => {
      answer = () => response.end('done');
    });
    const first = perform(request);
    while (receiver.received.length === 0) await new Promise((done) => setTimeout(done, 10));
    expect(await perform(request)).toEqual({ outcome: 'unknown' });
    answer();
    expect(await first).toEqual({ outcome: 'succeeded' });
    expect((await as(team.member, request).read()).body.outcome).toMatchObject({ status: 'succeeded' });
  });

  it('fails where nothing was sent, and by the status of the answer', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
    closed.close();
    expect(await perform(await approved({ method: 'GET', url }))).toEqual({ outcome: 'failed' });
    receiver.answer((_request, response) => response.writeHead(503).end('no'));
    const answered = await approved({ method: 'GET', url: receiver.url });
    expect(await perform(answered)).toEqual({ outcome: 'failed' });
    expect(receiver.received).toHaveLength(1);
    expect((await as(team.member, answered).read()).body.outcome).toMatchObject({ details: { http_status: 503 } });
  }, 30_000);

  it('a long answer is cut', async () => {
    receiver.answer((_request, response) => response.end('x'.repeat(100_000)));
    const request = await approved({ method: 'GET', url: receiver.url });
    await perform(request);
    const { body } = await app.as(team.member).get(`/api/change-requests/${request.request_id}/result`);
    expect(body.is_cut).toBe(true);
    expect(body.result).toMatch(/^x{65000,65536}$/);
  });

  it('an answer of characters that take several bytes is cut between two of them', async () => {
    receiver.answer((_request, response) => response.end('€'.repeat(40_000)));
    const request = await approved({ method: 'GET', url: receiver.url });
    expect(await perform(request)).toEqual({ outcome: 'succeeded' });
    const { body } = await app.as(team.member).get(`/api/change-requests/${request.request_id}/result`);
    expect(body.is_cut).toBe(true);
    expect(body.result).toMatch(/^€{21000,21845}\ufffd?$/);
  });

  it('is not sent after its time, after a cancellation, or for a user who has left', async () => {
    const late = await approved({ method: 'GET', url: receiver.url });
    await db()('change_requests')
      .where({ request_id: late.request_id })
      .update({ use_until: db().raw('now()') });
    expect(await perform(late)).toEqual({ outcome: null });
    const cancelled = await approved({ method: 'GET', url: receiver.url });
    await as(team.member, cancelled).cancel();
    expect(await perform(cancelled)).toEqual({ outcome: null });
    const gone = await approved({ method: 'GET', url: receiver.url });
    await db()('memberships').where({ user_id: team.member.user_id }).update({ role: 'guest' });
    expect(await perform(gone)).toEqual({ outcome: null });
    expect(receiver.received).toEqual([]);
  });

  it('sends nothing of a text that was edited and approved anew after it was read', async () => {
    const request = await approved({ method: 'GET', url: receiver.url });
    const counted = await countRedeemed();
    let performed: ReturnType<typeof perform> | undefined;
    await db().transaction(async (trx) => {
      await trx('change_requests')
        .where({ request_id: request.request_id })
        .update({ request_hash: Buffer.alloc(32) });
      performed = perform(request);
      // It has read the old text, and waits for the row.
      await until(async () => (await db().raw(WAITING)).rows[0].waits);
    });
    expect(await performed).toEqual({ outcome: null });
    expect(receiver.received).toEqual([]);
    expect(await countRedeemed()).toBe(counted);
    expect((await as(team.member, request).read()).body).toMatchObject({ status: 'approved', outcome: null });
  });

  it('counts each use once', async () => {
    const request = await approved({ method: 'GET', url: receiver.url });
    const counted = await countRedeemed();
    await Promise.all([perform(request), perform(request), perform(request)]);
    expect(await countRedeemed()).toBe(counted + 1);
  });
});

describe('what may be asked for', () => {
  it('no secret in the host, none that the team lacks, no template, no private address', async () => {
    expect(await refused({ method: 'GET', url: 'https://{{secret:X}}/' })).toMatchObject({ error_code: expect.any(String) });
    expect(await refused({ method: 'GET', url: 'https://example.com/{{secret:NOPE}}' })).toMatchObject({
      reason: 'secret_unknown',
    });
    expect(await refused({ method: 'GET', url: 'https://example.com/{{event.x}}' })).toMatchObject({
      error_code: 'INVALID_REQUEST',
    });
    expect(await refused({ method: 'GET', url: 'https://user:pass@example.com/' })).toMatchObject({
      error_code: 'INVALID_REQUEST',
    });
    expect(await refused({ method: 'FETCH', url: 'https://example.com/' })).toMatchObject({ error_code: 'VALIDATION_ERROR' });
  });

  it('a stranger learns no name of a secret', async () => {
    await saveSecret('KEY', 'x', []);
    const stranger = app.as(await buildPerson(app));
    const http = (name: string) => ({ method: 'GET', url: `https://example.com/{{secret:${name}}}` });
    const tried = async (name: string) =>
      (await stranger.post('/api/change-requests', { team_id: team.team_id, title: 'x', http: http(name) })).body.message;
    expect(await tried('KEY')).toBe(await tried('NOPE'));
  });

  it('the system follows from the address, so that a rule for a host holds', async () => {
    const { host } = new URL(receiver.url);
    const rules = [{ system: `http.${host}`, role: 'admin' }];
    expect((await app.as(team.admin).put(`/api/teams/${team.team_id}/request-rules`, { rules })).status).toBe(200);
    expect((await ask({ method: 'GET', url: `HTTP://${host}/` })) as object).toMatchObject({ requirement: { role: 'admin' } });
  });

  it('no spelling of the address dodges a rule', async () => {
    const rules = [
      { system: 'http.deploy.example.com', target: 'https://deploy.example.com/pay*', is_denied: true },
      { system: 'http.127.0.0.1', is_denied: true },
    ];
    expect((await app.as(team.admin).put(`/api/teams/${team.team_id}/request-rules`, { rules })).status).toBe(200);
    for (const url of [
      'https://deploy.example.com/pay',
      'https://deploy.example.com./pay',
      'https://DEPLOY.Example.COM:443/pay',
      'https://%64eploy.example.com/pay',
      'https://deploy\u3002example.com/pay',
      'https://deploy.example.com/%70a%79?x#y',
      'https://deploy.example.com/a/%2e%2E/pay',
      'https://deploy.example.com/p\tay',
      'http://127.0.0.1/',
      'http://127.1/',
      'http://[::ffff:127.0.0.1]/',
    ])
      expect([url, await refused({ method: 'GET', url })]).toMatchObject([url, { reason: 'denied_by_rule' }]);
    for (const url of ['https://deploy.example.com../pay', 'https://.deploy.example.com/pay'])
      expect(await refused({ method: 'GET', url })).toMatchObject({ error_code: 'INVALID_REQUEST' });
  });

  it('the requester sets no header that Assent sets, and none that no request can have', async () => {
    const codeOf = async (name: string) =>
      (await refused({ method: 'GET', url: receiver.url, headers: { [name]: 'mine' } })).error_code;
    for (const name of ['Assent-Receipt', 'IDEMPOTENCY-KEY', 'Host', 'content-length'])
      expect([name, await codeOf(name)]).toEqual([name, 'INVALID_REQUEST']);
    for (const name of ['a b', 'x:', '']) expect([name, await codeOf(name)]).toEqual([name, 'VALIDATION_ERROR']);
    const request = await ask({ method: 'POST', url: receiver.url });
    const { operations } = (await as(team.manager, request).read()).body;
    const headers = { 'Assent-Receipt': 'mine', 'Idempotency-Key': 'mine', 'x-kept': 'kept' };
    const edited = [{ ...operations[0], arguments: { ...operations[0].arguments, headers } }];
    const { body } = await as(team.manager, request).edit({ operations: edited });
    await as(team.admin, body).approve();
    expect(await perform(request)).toEqual({ outcome: 'succeeded' });
    expect(receiver.received[0]?.headers).toMatchObject({
      'idempotency-key': request.request_id,
      'assent-receipt': expect.stringMatching(/^ey[^,]+$/),
      'x-kept': 'kept',
    });
  });

  it('a secret without allowed hosts needs an admin as the requester, one with hosts goes nowhere else', async () => {
    await saveSecret('ANYWHERE', 'anywhere-value', []);
    await saveSecret('ELSEWHERE', 'elsewhere-value', ['api.example.com']);
    const call = (name: string) => ({ method: 'GET', url: receiver.url, headers: { 'x-key': `{{secret:${name}}}` } });
    const outcome = async (name: string, by: Person) => {
      const request = await approved(call(name), by);
      await perform(request);
      return (await as(by, request).read()).body.outcome;
    };
    expect(await outcome('ANYWHERE', team.member)).toMatchObject({
      status: 'failed',
      details: { error: 'secret_not_authorized' },
    });
    expect(await outcome('ELSEWHERE', team.member)).toMatchObject({
      status: 'failed',
      details: { error: 'secret_host_refused' },
    });
    expect(receiver.received).toEqual([]);
    expect(await outcome('ANYWHERE', team.admin)).toMatchObject({ status: 'succeeded' });
    expect(receiver.received[0]?.headers['x-key']).toBe('anywhere-value');
  });

  it('an approver may edit headers and body, but not where it goes', async () => {
    const request = await ask({ method: 'POST', url: receiver.url, body: { version: '1' } });
    const { operations } = (await as(team.manager, request).read()).body;
    const edited = (change: object) => [{ ...operations[0], arguments: { ...operations[0].arguments, ...change } }];
    expect((await as(team.manager, request).edit({ operations: edited({ url: 'http://127.0.0.1:1/' }) })).body).toMatchObject({
      reason: 'not_editable',
    });
    const { body } = await as(team.manager, request).edit({ operations: edited({ body: { version: '2' } }) });
    await as(team.admin, body).approve();
    await perform(request);
    expect(receiver.received[0]?.body).toBe('{"version":"2"}');
  });

  it('no requester lets its system, method, target or address be edited, by which a rule would be dodged', async () => {
    for (const rest of ['system', 'name', 'target', 'arguments', 'arguments/url'])
      expect(
        (
          await app.as(team.member).post('/api/change-requests', {
            team_id: team.team_id,
            title: 'x',
            http: { method: 'POST', url: receiver.url },
            editable: [`/operations/0/${rest}`],
          })
        ).body,
      ).toMatchObject({ reason: 'not_editable', path: `/operations/0/${rest}` });
    // One that was asked for before this was refused.
    const request = await ask({ method: 'POST', url: receiver.url });
    const { canonical } = await db()('change_requests').where({ request_id: request.request_id }).first('canonical');
    const content = { ...JSON.parse(canonical), editable: ['/operations/0/system', '/operations/0/arguments'] };
    await db()('change_requests')
      .where({ request_id: request.request_id })
      .update({ canonical: JSON.stringify(content) });
    const [operation] = (await as(team.manager, request).read()).body.operations;
    for (const other of [
      { ...operation, system: 'calm' },
      { ...operation, arguments: { ...operation.arguments, url: 'http://127.0.0.1:1/' } },
    ])
      expect((await as(team.manager, request).edit({ operations: [other] })).body).toMatchObject({ reason: 'not_editable' });
  });
});
