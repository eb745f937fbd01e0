import { randomUUID } from 'node:crypto';
import { verifyReceipt } from '../../../../clients/typescript/receipts.js';
import { expireRequests, forgetOutcomes, settleRequest } from '../../../../api/gate/requests/waiting/settle-request.js';
import { deleteOldRequests } from '../../../../api/gate/requests/waiting/delete-old-requests.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { about, buildRequest, OPERATION } from '../../../factories/requests.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const ask = (fields: object = {}, by: Person | string = team.member) =>
  buildRequest(app, team, by, fields as Record<string, unknown>);
const as = (who: Person | string, request: Awaited<ReturnType<typeof ask>>) => about(app.as(who), request);
/** The state in which errors name a request. */
const row = (request: { request_id: string }) => db()('change_requests').where({ request_id: request.request_id }).first();
const change = (request: { request_id: string }, fields: Record<string, unknown>) =>
  db()('change_requests').where({ request_id: request.request_id }).update(fields);
const past = () => db().raw("now() - interval '1 second'");
const audits = (request: { request_id: string }) =>
  db()('audit_entries').where({ entity_id: request.request_id }).orderBy('audit_id').pluck<string[]>('action');

describe('a request, from the question to the report', () => {
  it('shows the operations, is approved by the hash, and is used once', async () => {
    const created = await app.as(team.member).post('/api/change-requests', {
      team_id: team.team_id,
      title: 'Release 4.2',
      reason: 'The fix of the sign-in',
      operation: { ...OPERATION, summary: 'Installs it', risk: 'medium', reversible: true },
      context: { commit: '5f3a1c9' },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      status: 'pending',
      seq: 1,
      revision: 1,
      requirement: { role: 'manager', approvals: 1, allow_self: false, code: false },
      approvals_needed: 1,
      behind: [team.member.user_id],
      can_decide: false,
      context: { commit: '5f3a1c9' },
      operations: [{ ...OPERATION, summary: 'Installs it', risk: 'medium', reversible: true }],
      code: expect.stringMatching(/^[0-9A-Z]{3}-[0-9A-Z]{3}$/),
    });
    const request = created.body;
    expect((await as(team.manager, request).read()).body).toMatchObject({ can_decide: true, code: null });
    expect((await as(team.manager, request).approve({ comment: 'Go' })).body).toEqual({
      request_id: request.request_id,
      status: 'approved',
      approvals_needed: 0,
      seq: 2,
    });
    const redemption_id = randomUUID();
    const used = await as(team.member, request).redeem({ redemption_id });
    expect(used.body).toMatchObject({ operations: [OPERATION], request: { status: 'redeemed', seq: 3 } });
    const again = await as(team.member, request).redeem({ redemption_id: redemption_id.toUpperCase() });
    expect([again.body.receipt, again.body.operation_texts]).toEqual([used.body.receipt, used.body.operation_texts]);
    const jwks = (await app.as().get('/api/receipts/jwks')).body;
    const issuer = new URL(request.url).origin;
    const options = { jwks, issuer, team: team.team_id, system: 'payments', firstUse: () => true };
    expect(await verifyReceipt(used.body.receipt, used.body.operation_texts[0], options)).toEqual(OPERATION);
    const done = await as(team.member, request).report({ status: 'succeeded', exit_code: 0, output: 'done' });
    expect(done.body.outcome).toMatchObject({ status: 'succeeded', exit_code: 0, output: 'done' });
    expect((await as(team.member, request).report({ status: 'succeeded', exit_code: 0, output: 'done' })).status).toBe(200);
    expect((await as(team.member, request).report({ status: 'failed' })).body).toMatchObject({ reason: 'outcome_differs' });
    expect(await audits(request)).toEqual(['create', 'approve', 'redeem', 'report']);
  });

  it('keeps an argument called __proto__, and refuses JSON that programs read differently', async () => {
    const raw = (text: string) =>
      app.as(team.member).post('/api/change-requests', undefined, {
        raw: `{"team_id":"${team.team_id}","title":"x","operation":{"system":"a","name":"b","target":null,"arguments":${text}}}`,
      });
    const kept = await raw('{"__proto__":{"admin":true},"n":8.2e4}');
    expect(kept.status).toBe(201);
    expect(JSON.stringify(kept.body.operations[0].arguments)).toBe('{"__proto__":{"admin":true},"n":82000}');
    for (const text of ['{"a":1,"a":2}', '{"n":9007199254740993}', '{"n":1e400}', String.raw`{"t":"\ud800"}`])
      expect((await raw(text)).body).toMatchObject({ error_code: 'INVALID_REQUEST', reason: 'inexact_json' });
  });

  it('refuses reserved systems, invisible characters and arguments that are no object', async () => {
    const refused = async (fields: object) =>
      (await app.as(team.member).post('/api/change-requests', { team_id: team.team_id, title: 'x', ...fields })).body;
    for (const system of ['mcp.files', 'http.example.com', 'assent'])
      expect(await refused({ operation: { ...OPERATION, system } })).toMatchObject({ reason: 'reserved_system' });
    expect(await refused({ operation: { ...OPERATION, target: 'prod\u202e' } })).toMatchObject({ error_code: 'INVALID_REQUEST' });
    expect(await refused({ operation: OPERATION, title: 'a\u200bb' })).toMatchObject({ error_code: 'INVALID_REQUEST' });
    expect(await refused({ operation: { ...OPERATION, arguments: [] } })).toMatchObject({ error_code: 'INVALID_REQUEST' });
    expect(await refused({})).toMatchObject({ error_code: 'VALIDATION_ERROR' });
  });

  it('shows a value with an invisible character as it is', async () => {
    const request = await ask({ operation: { ...OPERATION, arguments: { note: 'a\u202eb' } } });
    expect((await as(team.manager, request).read()).body.operations[0].arguments).toEqual({ note: 'a\u202eb' });
  });
});

describe('who may', () => {
  it('members ask, guests and strangers do not', async () => {
    const body = { team_id: team.team_id, title: 'x', operation: OPERATION };
    expect((await app.as(team.guest).post('/api/change-requests', body)).status).toBe(403);
    expect((await app.as(await buildPerson(app)).post('/api/change-requests', body)).status).toBe(403);
    const request = await ask();
    expect((await as(team.guest, request).read()).status).toBe(403);
    expect((await as(await buildPerson(app), request).read()).status).toBe(403);
    expect((await app.as(team.member).get(`/api/change-requests/${randomUUID()}`)).status).toBe(404);
  });

  it('the role decides, and nobody behind the request', async () => {
    const request = await ask({}, team.manager);
    expect((await as(team.member, request).approve()).body).toMatchObject({ reason: 'role' });
    expect((await as(team.manager, request).approve()).body).toMatchObject({ reason: 'self' });
    expect((await as(team.manager, request).reject()).body).toMatchObject({ status: 'rejected', closed_reason: 'approver' });
  });

  it('a token decides with approvals:decide by name, and never about requests of its own user', async () => {
    await saveRules([{ system: 'payments', allow_self: true }]);
    const request = await ask();
    const admin = await buildToken(app, team.manager, ['admin:*']);
    expect((await as(admin, request).approve()).body).toMatchObject({ reason: 'token_may_not_decide' });
    const own = await ask({}, team.manager);
    const deciding = await buildToken(app, team.manager, ['approvals:decide', 'requests:read']);
    expect((await as(deciding, own).approve()).body).toMatchObject({ reason: 'token_may_not_decide' });
    expect((await as(team.manager, own).approve()).body).toMatchObject({ status: 'approved' });
    expect((await as(deciding, request).approve()).body).toMatchObject({ status: 'approved' });
    const reading = await buildToken(app, team.member, ['requests:read']);
    expect((await as(reading, request).redeem()).status).toBe(403);
  });

  it('a report that no program can store is refused', async () => {
    const request = await ask();
    await as(team.manager, request).approve();
    await as(team.member, request).redeem();
    const report = await app.as(team.member).post(`/api/change-requests/${request.request_id}/outcome`, undefined, {
      raw: String.raw`{"status":"failed","details":{"a":"\ud800"}}`,
    });
    expect(report.body).toMatchObject({ error_code: 'INVALID_REQUEST', reason: 'inexact_json' });
  });

  it('only the requester uses and reports', async () => {
    const request = await ask();
    await as(team.manager, request).approve();
    expect((await as(team.manager, request).redeem()).body).toMatchObject({ reason: 'not_requester' });
    expect((await as(team.member, request).report({ status: 'failed' })).body).toMatchObject({ reason: 'not_redeemed' });
    const token = await buildToken(app, team.member, ['requests:create']);
    expect((await as(token, request).redeem()).status).toBe(200);
    expect((await as(team.manager, request).report({ status: 'failed' })).body).toMatchObject({ reason: 'not_requester' });
  });

  it('the requester, an approver or a manager cancels', async () => {
    const [first, second, third] = [await ask(), await ask(), await ask()];
    const other = await buildPerson(app);
    await db()('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'member' });
    expect((await as(other, first).cancel()).body).toMatchObject({ reason: 'not_requester' });
    expect((await as(team.member, first).cancel({ reason: 'found another way' })).body).toMatchObject({
      closed_reason: 'requester',
    });
    await as(team.manager, second).approve();
    expect((await as(team.manager, second).cancel()).body).toMatchObject({ status: 'cancelled', closed_reason: 'approver' });
    expect((await as(team.admin, third).cancel()).body).toMatchObject({ closed_reason: 'manager' });
    expect((await as(team.member, second).redeem()).body).toMatchObject({ reason: 'not_approved', request_status: 'cancelled' });
  });
});

const saveRules = async (rules: object[], headers: Record<string, string> = {}) =>
  app.as(team.admin).put(`/api/teams/${team.team_id}/request-rules`, { rules }, { headers });

describe('rules', () => {
  it('the strictest of rule and question holds', async () => {
    expect((await saveRules([{ system: 'pay*', role: 'member', approvals: 2 }])).status).toBe(200);
    expect((await ask()) as object).toMatchObject({ requirement: { role: 'member', approvals: 2 } });
    expect((await ask({ requirement: { role: 'admin', approvals: 1 } })) as object).toMatchObject({
      requirement: { role: 'admin', approvals: 2 },
    });
    const test = { operation: OPERATION };
    expect((await app.as(team.member).post(`/api/teams/${team.team_id}/request-rules/test`, test)).body).toMatchObject({
      rule: { system: 'pay*' },
      requirement: { role: 'member', approvals: 2, code: false },
    });
  });

  it('refuses what a rule denies, and a stale list', async () => {
    const saved = await saveRules([{ system: 'payments', is_denied: true }]);
    const refused = await app
      .as(team.member)
      .post('/api/change-requests', { team_id: team.team_id, title: 'x', operation: OPERATION });
    expect(refused.body).toMatchObject({ error_code: 'PERMISSION_DENIED', reason: 'denied_by_rule' });
    expect((await saveRules([], { 'if-match': saved.headers.get('etag') as string })).status).toBe(200);
    expect((await saveRules([], { 'if-match': saved.headers.get('etag') as string })).status).toBe(409);
    const severities = await db()('audit_entries')
      .where({ entity_type: 'request_rules', entity_id: team.team_id })
      .pluck('severity');
    expect(severities).toEqual(['MEDIUM', 'MEDIUM']);
    await saveRules([{ system: '*', allow_self: true }]);
    expect(await db()('audit_entries').where({ entity_id: team.team_id, severity: 'HIGH', feature: 'requests' })).toHaveLength(1);
    expect((await app.as(team.manager).put(`/api/teams/${team.team_id}/request-rules`, { rules: [] })).status).toBe(403);
  });

  it('asks for the code, and the fifth wrong one rejects', async () => {
    await saveRules([{ system: 'payments', require_code: true }]);
    const request = await ask();
    expect((await as(team.manager, request).approve()).body).toMatchObject({ reason: 'code_required' });
    for (let count = 0; count < 4; count += 1)
      expect((await as(team.manager, request).approve({ code: '000-000' })).body).toMatchObject({ reason: 'code_wrong' });
    expect((await as(team.manager, request).read()).body).toMatchObject({ status: 'pending' });
    expect((await as(team.manager, request).approve({ code: '000-000' })).body).toMatchObject({ reason: 'code_wrong' });
    expect((await as(team.manager, request).read()).body).toMatchObject({ status: 'rejected', closed_reason: 'code' });
    const next = await ask();
    const typed = (next.code as string).toLowerCase().replace('-', ' ');
    expect((await as(team.manager, next).approve({ code: typed })).body).toMatchObject({ status: 'approved' });
    const token = await buildToken(app, team.manager, ['approvals:decide']);
    const third = await ask();
    expect((await as(token, third).approve({ code: third.code })).body).toMatchObject({ reason: 'token_may_not_decide' });
  });

  it('an edit makes a new revision, and its editor is behind it', async () => {
    const request = await ask({ editable: ['/operations/0/arguments/version'] });
    const edited = (version: string, name = 'deploy') => [{ ...OPERATION, name, arguments: { version } }];
    expect((await as(team.manager, request).edit({ operations: edited('4.3', 'other') })).body).toMatchObject({
      reason: 'not_editable',
    });
    await as(team.manager, request).approve();
    const next = await as(team.manager, request).edit({ operations: edited('4.3') });
    expect(next.body).toMatchObject({ revision: 2, status: 'pending', approvals_needed: 1, operations: edited('4.3') });
    expect((await as(team.manager, next.body).approve()).body).toMatchObject({ reason: 'self' });
    expect((await as(team.admin, request).approve()).body).toMatchObject({ reason: 'hash_differs' });
    expect((await as(team.admin, next.body).approve()).body).toMatchObject({ status: 'approved' });
    expect((await as(team.member, request).redeem()).body).toMatchObject({ reason: 'hash_differs' });
    expect((await as(team.member, next.body).redeem()).body.operations).toEqual(edited('4.3'));
    const token = await buildToken(app, team.admin, ['approvals:decide']);
    expect((await as(token, await ask({ editable: ['/operations/0/arguments'] })).edit({ operations: edited('5') })).status).toBe(
      403,
    );
  });
});

describe('time', () => {
  it('a request past its time is expired at once, before anything closes it', async () => {
    const request = await ask();
    await change(request, { expires_at: past() });
    expect((await as(team.member, request).read()).body).toMatchObject({ status: 'expired', closed_reason: 'time' });
    expect((await as(team.manager, request).approve()).body).toMatchObject({ error_code: 'REQUEST_EXPIRED', reason: 'time' });
    expect(await expireRequests(app.services)).toBeGreaterThan(0);
    expect(await audits(request)).toEqual(['create', 'expire']);
  });

  it('an approval that is not used in time expires', async () => {
    const request = await ask();
    await as(team.manager, request).approve();
    await change(request, { use_until: past() });
    expect((await as(team.member, request).redeem()).body).toMatchObject({ error_code: 'REQUEST_EXPIRED', reason: 'use_window' });
    expect(await settleRequest(app.services, request.request_id)).toMatchObject({
      state: 'expired',
      reason: 'use_window',
      msLeft: null,
    });
  });

  it('an outcome that nobody reports is unknown, and a late report replaces it', async () => {
    const request = await ask();
    await as(team.manager, request).approve();
    await as(team.member, request).redeem();
    await change(request, { outcome_due: past() });
    expect(await forgetOutcomes(app.services)).toBeGreaterThan(0);
    expect((await as(team.member, request).read()).body.outcome).toMatchObject({ status: 'unknown' });
    expect((await as(team.member, request).report({ status: 'failed', exit_code: 2 })).body.outcome).toMatchObject({
      status: 'failed',
    });
    await change(request, { outcome: null, outcome_details: null, redeemed_at: db().raw("now() - interval '8 days'") });
    expect((await as(team.member, request).report({ status: 'failed' })).body).toMatchObject({ reason: 'outcome_differs' });
  });

  it('tells those who may approve when a lost role takes an approval back, once', async () => {
    const request = await ask();
    await as(team.manager, request).approve();
    await app.as(team.admin).patch(`/api/teams/${team.team_id}/members/${team.manager.user_id}`, { role: 'member' });
    expect((await row(request)).status).toBe('pending');
    for (let look = 0; look < 2; look += 1) await settleRequest(app.services, request.request_id);
    const reminders = { request_id: request.request_id, kind: 'change_reminder' };
    expect(await db()('notifications').where(reminders).pluck('user_id')).toEqual([team.admin.user_id]);
  });

  it('names in an email what it would do, without arguments, and no part of that as a link', async () => {
    const request = await ask({ title: 'Rotate\n prod.example/key' });
    const [mail] = await listMails(app.services, team.manager.email);
    const plain = (text = '') => text.replaceAll('\u2060', '');
    expect(plain(mail?.subject)).toBe('Waiting for your yes: Rotate prod.example/key');
    expect(plain(mail?.text)).toContain(`${OPERATION.system} · ${OPERATION.name}`);
    expect(mail?.text).not.toContain('prod.example/key');
    expect(mail?.text).toContain(`/app/approvals/request/${request.request_id}`);
  });

  it('tells the requester the reason of a no', async () => {
    const request = await ask();
    expect((await as(team.manager, request).reject({ comment: 'Not on\na Friday' })).status).toBe(200);
    const told = { request_id: request.request_id, kind: 'change_ended', user_id: team.member.user_id };
    expect((await db()('notifications').where(told).first()).message).toMatch(
      /^Your request “.+” was rejected: Not on a Friday$/,
    );
  });

  it('reminds once at half time, and forgets after 90 days', async () => {
    const request = await ask({ expires_in_seconds: 7_200 });
    await change(request, { remind_at: past() });
    await settleRequest(app.services, request.request_id);
    await settleRequest(app.services, request.request_id);
    const kinds = await db()('notifications')
      .where({ request_id: request.request_id, user_id: team.manager.user_id })
      .orderBy('notification_id')
      .pluck('kind');
    expect(kinds).toEqual(['change_requested', 'change_reminder']);
    await as(team.manager, request).reject();
    expect(await db()('notifications').where({ request_id: request.request_id, read_at: null }).pluck('kind')).toEqual([
      'change_ended',
    ]);
    await change(request, { ended_at: db().raw("now() - interval '91 days'") });
    expect(await deleteOldRequests(app.services)).toBe(1);
    expect(await row(request)).toBeUndefined();
  });
});

describe('what ends with its source', () => {
  it('a revoked token, a removed member and a demotion', async () => {
    const secret = await buildToken(app, team.member, ['requests:create', 'requests:read']);
    const { token_id } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
    const [ofToken, own] = [await ask({}, secret), await ask()];
    expect((await app.as(team.member).delete(`/api/auth/tokens/${token_id}`)).status).toBe(200);
    expect((await as(team.manager, ofToken).read()).body).toMatchObject({ status: 'cancelled', closed_reason: 'source_gone' });
    await as(team.manager, own).approve();
    expect(
      (await app.as(team.admin).patch(`/api/teams/${team.team_id}/members/${team.manager.user_id}`, { role: 'member' })).status,
    ).toBe(200);
    expect((await as(team.admin, own).read()).body).toMatchObject({ status: 'pending', approvals_needed: 1, decisions: [] });
    expect((await as(team.member, own).redeem()).body).toMatchObject({ reason: 'not_approved' });
    expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`)).status).toBe(200);
    expect((await as(team.admin, own).read()).body).toMatchObject({ status: 'cancelled', closed_reason: 'source_gone' });
  });
});

describe('a text with U+0000, which jsonb of PostgreSQL does not hold', () => {
  /** As one that was stored before the door refused it. */
  async function hostile(by: Person | string = team.member) {
    const request = await ask({}, by);
    const { canonical } = await row(request);
    await change(request, { canonical: canonical.replace('"4.2"', String.raw`"4.2\u0000"`) });
    return request;
  }

  it('is refused', async () => {
    const operation = { ...OPERATION, arguments: { note: 'a\u0000b' } };
    const { body } = await app.as(team.member).post('/api/change-requests', { team_id: team.team_id, title: 'x', operation });
    expect(body).toMatchObject({ reason: 'inexact_json', path: '/operation/arguments/note' });
  });

  it('does not keep the requests of all teams open for ever', async () => {
    const [request, neighbour] = [await hostile(), await ask({}, team.manager)];
    for (const each of [request, neighbour]) await change(each, { expires_at: past() });
    await expireRequests(app.services);
    for (const each of [request, neighbour]) expect(await row(each)).toMatchObject({ status: 'expired' });
    const used = await hostile();
    await as(team.manager, used).approve();
    await as(team.member, used).redeem();
    await change(used, { outcome_due: past() });
    await forgetOutcomes(app.services);
    expect(await row(used)).toMatchObject({ outcome: 'unknown' });
  });

  it('ends with a cancellation, and with its token', async () => {
    expect((await as(team.member, await hostile()).cancel()).body).toMatchObject({ status: 'cancelled' });
    const request = await hostile(await buildToken(app, team.member, ['requests:create', 'requests:read']));
    const { token_id } = await row(request);
    expect((await app.as(team.member).delete(`/api/auth/tokens/${token_id}`)).status).toBe(200);
    expect(await row(request)).toMatchObject({ status: 'cancelled', closed_reason: 'source_gone' });
  });
});

describe('limits', () => {
  it('of open requests for one target, and of refusals in a day', async () => {
    const open = [];
    for (let count = 0; count < 10; count += 1) open.push(await ask({ operation: { ...OPERATION, arguments: { count } } }));
    const again = () =>
      app.as(team.member).post('/api/change-requests', { team_id: team.team_id, title: 'x', operation: OPERATION });
    expect((await again()).body).toMatchObject({ error_code: 'RESOURCE_CONFLICT', reason: 'too_many_open' });
    for (const request of open) await as(team.member, request).cancel();
    for (let count = 0; count < 3; count += 1) await as(team.manager, await ask()).reject();
    expect((await again()).body).toMatchObject({ reason: 'refused_before' });
  });
});

describe('waiting', () => {
  it('answers at once if there is news, at a change, and at the end of the time', async () => {
    const request = await ask();
    expect((await as(team.member, request).read('?wait=25&seen=0')).body.seq).toBe(1);
    const waiting = as(team.member, request).read('?wait=25&seen=1');
    await as(team.manager, request).approve();
    expect((await waiting).body).toMatchObject({ seq: 2, status: 'approved' });
    expect((await as(team.member, request).read('?wait=1&seen=2')).body).toMatchObject({ seq: 2, status: 'approved' });
  });

  it('refuses the eleventh wait of a caller', async () => {
    const request = await ask();
    // Any of the eleven may come last.
    const waits = Array.from({ length: 11 }, () => as(team.member, request).read('?wait=25&seen=1'));
    const isRefused = async (wait: (typeof waits)[number]) => ((await wait).status === 429 ? wait : Promise.reject(new Error()));
    expect((await Promise.any(waits.map(isRefused))).headers.get('retry-after')).toBe('5');
    await as(team.member, request).cancel();
    const answered = (await Promise.all(waits)).filter(({ status }) => status === 200);
    expect(answered.map(({ body }) => body.status)).toEqual(Array<string>(10).fill('cancelled'));
  });
});

describe('lists', () => {
  it('filters, pages, and leaves long arguments out', async () => {
    const first = await ask({ operation: { ...OPERATION, arguments: { text: 'x'.repeat(600) } } });
    const second = await ask({ operation: { ...OPERATION, system: 'shell' } }, team.manager);
    const list = async (query: string, by: Person = team.manager) =>
      (await app.as(by).get(`/api/change-requests?team_id=${team.team_id}${query}`)).body;
    const page = await list('&limit=1');
    expect(page).toMatchObject({ requests: [{ request_id: second.request_id }], next_cursor: second.request_id });
    expect(await list(`&limit=1&before=${page.next_cursor as string}`)).toMatchObject({
      requests: [{ request_id: first.request_id, operations: [{ arguments: {}, arguments_cut: true }] }],
      next_cursor: null,
    });
    const ids = async (query: string, by?: Person) =>
      ((await list(query, by)).requests as { request_id: string }[]).map(({ request_id }) => request_id);
    expect(await ids('&system=shell')).toEqual([second.request_id]);
    expect(await ids('&mine=true')).toEqual([second.request_id]);
    expect(await ids('&decidable=true')).toEqual([first.request_id]);
    expect(await ids('&decidable=true', team.admin)).toEqual([second.request_id, first.request_id]);
    expect(await ids('&status=approved')).toEqual([]);
    expect(await list('', team.guest)).toEqual({ requests: [], next_cursor: null });
  });
});
