import { decodeJwt } from 'jose';
import { z } from 'zod';
import { revocationActivities } from '../../../../activities/revocations.js';
import { issueToken } from '../../../../api/identity/auth/authenticate.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { accessToken } from '../../../../api/integrations/connections/connections.js';
import { forge } from '../../../../api/integrations/connections/forge/provider.js';
import type { Provider } from '../../../../api/integrations/connections/provider.js';
import { revokeConnection } from '../../../../api/integrations/connections/revoke-connection.js';
import { registerProvider } from '../../../../api/integrations/connections/registry.js';
import { rotateKeys } from '../../../../api/automation/secrets/rotate-keys.js';
import { buildCookie, buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type OAuthServer, startOAuthServer } from '../../../support/oauth-server.js';

let app: TestApp;
let team: TestTeam;
let remote: OAuthServer;

/** Another service altogether: nothing but this object knows of it. */
const chat = (): Provider => ({
  key: 'chat',
  label: 'Chat',
  scopes: ['say'],
  settings: () => ({
    authorizeUrl: `${remote.url}/login/oauth/authorize`,
    tokenUrl: `${remote.url}/login/oauth/access_token`,
    clientId: 'assent-test',
    clientSecret: 'canary-client-secret',
  }),
  account: () => Promise.resolve('ada-in-chat'),
  actions: [
    {
      type: 'chat_say',
      label: 'Say something',
      category: 'integration',
      integration: { provider: 'chat', scopes: ['say'] },
      params: z.object({ text: z.string() }),
      send: (errand) => Promise.resolve({ output: { said: true, by: errand.creator_id } }),
    },
  ],
});

let removeChat: () => void;
beforeAll(async () => {
  remote = await startOAuthServer();
  removeChat = registerProvider(chat());
  app = await startApp(remote.settings);
});
afterAll(async () => {
  // Other test files of this process know one service only.
  removeChat();
  remote.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  Object.assign(remote, {
    person: { login: 'octo-ada' },
    expiresIn: undefined,
    next: undefined,
    faults: { tokens: [], user: [], list: [], repository: [] },
    refreshed: 0,
    refused: 0,
    revoked: [],
  });
  remote.written.length = 0;
});

const db = () => app.services.db;
/** Follows the OAuth redirects like a browser. Returns the final address. */
async function allow(person: Person, key = 'forge', body: object = {}): Promise<URL> {
  const begun = await app.as(person).post(`/api/integrations/${key}/connect`, body);
  expect(begun.status).toBe(200);
  const there = await fetch(begun.body.authorize_url, { redirect: 'manual' });
  expect(there.status).toBe(302);
  const back = new URL(there.headers.get('location') ?? '');
  return new URL(`${back.pathname}${back.search}`, app.url);
}
/** The same browser, in which this person is signed in to the web app. */
const come = async (person: Person, address: URL): Promise<Response> =>
  fetch(address, { headers: { cookie: await buildCookie(app, person) } });
const connect = async (person: Person, key?: string, body?: object) => come(person, await allow(person, key, body));
const listed = async (person: Person) => (await app.as(person).get('/api/integrations')).body;
const findAction = async (person: Person, type: string) =>
  (await app.as(person).get('/api/automations/actions/types')).body.actions.find((each: { type: string }) => each.type === type);

const comment = { type: 'forge_comment', params: { repo: 'acme/rocket', number: '{{event.pr_number}}', body: 'Merged' } };
const begin = (actions: object[]) =>
  buildRun(app, team, { actions: actions as never, status: 'running', statuses: actions.map(() => 'pending') });
const act = (run: { run_id: string }, index = 0) =>
  performOutbound(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, index);
const getStep = (run: { run_id: string }) => db()('run_actions').where({ run_id: run.run_id, index: 0 }).first();
/** Its next try has come, by the row. */
const makeDue = (run: { run_id: string }) => db()('run_actions').where({ run_id: run.run_id }).update({ due_at: db().fn.now() });

describe('connecting', () => {
  it('goes to the service and back, and shows what was granted', async () => {
    expect(await listed(team.member)).toContainEqual({
      key: 'forge',
      label: 'Code host',
      connected: false,
      available: true,
      scopes_granted: [],
      account: null,
    });
    expect(await findAction(team.member, 'forge_comment')).toMatchObject({
      connected: false,
      available: true,
      missing_scopes: ['repo'],
    });
    const page = await connect(team.member);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toMatch(/Code host is connected.*act there as octo-ada/s);
    expect(await listed(team.member)).toContainEqual(
      expect.objectContaining({ key: 'forge', connected: true, scopes_granted: ['repo'], account: 'octo-ada' }),
    );
    expect(await findAction(team.member, 'forge_comment')).toMatchObject({
      category: 'integration',
      integration: 'forge',
      connected: true,
      available: true,
      missing_scopes: [],
    });
    expect(await listed(team.admin)).toContainEqual(expect.objectContaining({ key: 'forge', connected: false }));
    const entries = await db()('audit_entries')
      .where({ user_id: team.member.user_id, entity_type: 'integration' })
      .orderBy('audit_id');
    expect(entries.map(({ action, severity }) => [action, severity])).toEqual([
      ['stage', 'LOW'],
      ['create', 'HIGH'],
    ]);
  });

  it('a state is good once, for its service, for ten minutes, and while the person may sign in', async () => {
    const refused = async (address: URL) => {
      const answer = await come(team.member, address);
      expect(await answer.json()).toMatchObject({ success: false, error_code: 'INVALID_REQUEST' });
      expect(answer.status).toBe(400);
    };
    const used = await allow(team.member);
    expect((await come(team.member, used)).status).toBe(200);
    await refused(used);
    const other = await allow(team.member);
    await refused(new URL(other.href.replace('/forge/', '/chat/')));
    const late = await allow(team.member);
    await db()('integration_requests').update({ expires_at: db().raw("now() - interval '1 second'") });
    await refused(late);
    const gone = await allow(team.member);
    await db()('users').where({ user_id: team.member.user_id }).update({ status: 'suspended' });
    await refused(gone);
    for (const query of ['', '?state=garbage&code=x', '?code=x', '?error=access_denied']) {
      await refused(new URL(`${app.url}/api/integrations/forge/callback${query}`));
    }
    expect((await fetch(`${app.url}/api/integrations/nowhere/callback?state=x`)).status).toBe(404);
  });

  it('only where who began is signed in: nobody is sent to the service to lend their account to another', async () => {
    const bait = await allow(team.member);
    for (const answer of [await fetch(bait), await come(team.admin, bait)]) expect(answer.status).toBe(400);
    const pat = { cookie: `assent-session=${await buildToken(app, team.member, ['admin:*'])}` };
    const bearer = { authorization: `Bearer ${team.member.token}`, cookie: `assent-session=${team.member.token}` };
    for (const headers of [pat, bearer]) expect((await fetch(bait, { headers })).status).toBe(400);
    expect(await db()('integration_connections').whereIn('user_id', [team.member.user_id, team.admin.user_id])).toEqual([]);
    expect((await come(team.member, bait)).status).toBe(200);
  });

  it('is not finished in a browser in which an administrator acts as the person', async () => {
    const begun = await allow(team.member);
    const root = await buildPerson(app, { role: 'admin' });
    const start = await app
      .as(root)
      .post('/api/admin/impersonate', { user_id: team.member.user_id, reason: 'Ticket 4711: connect it' });
    const sid = decodeJwt(start.body.token)['sid'] as string;
    const use = { use: 'web', impersonatorId: root.user_id } as const;
    const { token } = await issueToken(app.services, team.member.user_id, sid, use);
    const cookie = `assent-session=${token}`;
    expect((await fetch(`${app.url}/app`, { headers: { cookie } })).headers.get('x-impersonated-by')).toBe(root.user_id);
    expect((await fetch(begun, { headers: { cookie } })).status).toBe(400);
    expect(await db()('integration_connections').where({ user_id: team.member.user_id })).toEqual([]);
    expect((await come(team.member, begun)).status).toBe(200);
  });

  it('rejects the code of another user: the verifier stayed here', async () => {
    const mine = await allow(team.member);
    const theirs = await allow(team.admin);
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    const answer = await come(team.member, mine);
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toMatch(/canary|verifier/);
    expect(await db()('integration_connections').where({ user_id: team.member.user_id })).toEqual([]);
  });

  it('a service that is away for a moment is told as that, not as a refusal', async () => {
    for (const [asked, status] of [
      ['tokens', 503],
      ['user', 429],
    ] as const) {
      remote.faults[asked] = [{ status }];
      const answer = await connect(team.member);
      expect([answer.status, await answer.json()]).toMatchObject([400, { message: 'Code host is unavailable: start again' }]);
    }
  });

  it('saying no there stores nothing', async () => {
    remote.person = null;
    const page = await connect(team.member);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Code host is not connected')]);
    expect(await db()('integration_connections').where({ user_id: team.member.user_id })).toEqual([]);
  });

  it('an account whose name is markup is shown as text', async () => {
    remote.person = { login: '<img src=x onerror=alert(1)>' };
    expect(await (await connect(team.member)).text()).toContain('&lt;img src=x');
  });

  it('takes scopes, refuses what is none, an unknown service, and one without a client', async () => {
    remote.person = { login: 'octo-ada', scope: 'read:user' };
    await connect(team.member, 'forge', { scopes: ['repo', 'read:user'] });
    expect(await findAction(team.member, 'forge_comment')).toMatchObject({ connected: true, missing_scopes: ['repo'] });
    const post = (path: string, body: object) => app.as(team.member).post(`/api/integrations/${path}/connect`, body);
    expect((await post('forge', { scopes: ['a b'] })).status).toBe(422);
    expect((await post('nowhere', {})).status).toBe(404);
    const { FORGE_CLIENT_SECRET: kept } = app.services.config;
    delete (app.services.config as Record<string, unknown>)['FORGE_CLIENT_SECRET'];
    expect((await post('forge', {})).status).toBe(409);
    expect(await findAction(team.member, 'forge_comment')).toMatchObject({ available: false });
    Object.assign(app.services.config, { FORGE_CLIENT_SECRET: kept });
  });

  it('keeps tokens as secrets are kept: in no answer, no table, and under the key of the day', async () => {
    remote.expiresIn = 3_600;
    await connect(team.member);
    const token = await accessToken(app.services, forge, team.member.user_id, ['repo']);
    expect(token).toMatch(/^canary-access-/);
    for (const table of [
      'integration_connections',
      'integration_revocations',
      'integration_requests',
      'audit_entries',
      'idempotency_keys',
    ]) {
      const { rows } = await db().raw<{ rows: { text: string }[] }>(`select t::text as text from ${table} t`);
      const all = rows.map(({ text }) => text).join('\n');
      expect(all).not.toContain('canary-');
      expect(all).not.toContain(Buffer.from('canary-').toString('hex'));
    }
    const config = { ...app.services.config };
    const next = {
      ...config,
      SECRETS_MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
      SECRETS_MASTER_KEY_PREVIOUS: [config.SECRETS_MASTER_KEY],
    };
    expect((await rotateKeys({ db: db(), config: next })).unopened).toEqual([]);
    const alone = { ...next, SECRETS_MASTER_KEY_PREVIOUS: [] };
    expect(await accessToken({ ...app.services, config: alone }, forge, team.member.user_id, [])).toBe(token);
    await rotateKeys({ db: db(), config: { ...config, SECRETS_MASTER_KEY_PREVIOUS: [next.SECRETS_MASTER_KEY] } });
  });

  it('is forgotten on request', async () => {
    await connect(team.member);
    const gone = await app.as(team.member).delete('/api/integrations/forge');
    expect(gone).toMatchObject({ status: 200, body: { success: true, key: 'forge' } });
    expect((await app.as(team.member).delete('/api/integrations/forge')).status).toBe(404);
    expect((await app.as(team.member).delete('/api/integrations/nowhere')).status).toBe(404);
    const run = await begin([comment]);
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe('integration_not_connected');
  });
});

describe('disconnecting', () => {
  const waiting = (person: Person) => db()('integration_revocations').where({ user_id: person.user_id }).orderBy('created_at');
  const disconnect = (person: Person) => app.as(person).delete('/api/integrations/forge');
  const requireToken = (person: Person) => accessToken(app.services, forge, person.user_id, []);
  /** What the worker does with everything that waits. */
  const revokeGrant = async (person: Person) => {
    const said: string[] = [];
    for (const { revocation_id } of await waiting(person)) said.push(await revokeConnection(app.services, revocation_id));
    return said;
  };

  it('takes the token back at the service, in the end, and is never held up by it', async () => {
    await connect(team.member);
    const token = await requireToken(team.member);
    expect((await disconnect(team.member)).status).toBe(200);
    const [{ revocation_id }] = await waiting(team.member);
    expect(await db()('outbox').where({ kind: 'integration.revoke', subject: revocation_id }).first('payload')).toEqual({
      payload: { revocation_id },
    });
    remote.next = 503;
    await expect(revokeGrant(team.member)).rejects.toThrow('The code host returned 503 and did not revoke the token');
    expect(remote.revoked).not.toContain(token);
    expect(await revokeGrant(team.member)).toEqual(['revoked']);
    expect(remote.revoked).toContain(token);
    expect(await waiting(team.member)).toEqual([]);
    expect(await revokeConnection(app.services, revocation_id)).toBe('nothing to do: already revoked');
  });

  it('drops a token that the service no longer knows, and renews an expired one to revoke it', async () => {
    await connect(team.member);
    remote.revokeAll();
    await disconnect(team.member);
    expect(await revokeGrant(team.member)).toEqual(['revoked']);
    remote.expiresIn = 3_600;
    await connect(team.member);
    const old = await requireToken(team.member);
    await disconnect(team.member);
    await db()('integration_revocations').update({ expires_at: db().raw("now() - interval '1 second'") });
    remote.next = 503;
    await expect(revokeGrant(team.member)).rejects.toThrow('503');
    expect(await revokeGrant(team.member)).toEqual(['revoked']);
    expect([remote.refreshed, remote.revoked.includes(old), remote.revoked.at(-1)]).toEqual([
      1,
      false,
      expect.not.stringMatching(old),
    ]);
    // What would renew it is no good either.
    await connect(team.member);
    await disconnect(team.member);
    await db()('integration_revocations').update({ expires_at: db().raw("now() - interval '1 second'") });
    remote.revokeAll();
    expect(await revokeGrant(team.member)).toEqual(['forgotten: it was no good any more']);
  });

  it('one that ran out is kept until the service is there to renew it: a moment of absence forgets nothing', async () => {
    remote.expiresIn = 3_600;
    await connect(team.member);
    await disconnect(team.member);
    await db()('integration_revocations').update({ expires_at: db().raw("now() - interval '1 second'") });
    const away = [{ status: 503 }, { status: 502 }, { status: 429 }, { status: 408 }, { status: 200 }, { status: 302 }];
    remote.faults.tokens = [...away];
    for (const { status } of away) await expect(revokeGrant(team.member)).rejects.toThrow(`returned ${status}`);
    remote.faults.tokens = [{ status: 503, headers: { 'retry-after': '90' } }];
    const [{ revocation_id }] = await waiting(team.member);
    const asked = revocationActivities(app.services).revokeConnection(revocation_id);
    await expect(asked).rejects.toMatchObject({ type: 'connection_failed', nextRetryDelay: 90_000 });
    expect(await revokeGrant(team.member)).toEqual(['revoked']);
    expect([remote.refreshed, remote.revoked.length]).toEqual([1, 1]);
  });

  it('connecting again takes back only what was there before', async () => {
    await connect(team.member);
    const first = await requireToken(team.member);
    await connect(team.member);
    const second = await requireToken(team.member);
    expect(await revokeGrant(team.member)).toEqual(['revoked']);
    expect([remote.revoked.includes(first), remote.revoked.includes(second)]).toEqual([true, false]);
    const run = await begin([comment]);
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
  });

  it('a service that knows no way is left alone, and nobody waits for it', async () => {
    await connect(team.member, 'chat');
    await app.as(team.member).delete('/api/integrations/chat');
    expect(await revokeGrant(team.member)).toEqual(['forgotten: the service offers no revocation']);
    expect(await waiting(team.member)).toEqual([]);
  });
});

it('an automation is saved with a warning while its creator’s connection is missing, or too narrow', async () => {
  const save = async () =>
    app
      .as(team.member)
      .post('/api/automations', { name: 'A', trigger_type: 'forge.pr_merged', team_id: team.team_id, actions: [comment] });
  const made = await save();
  expect(made.status).toBe(201);
  expect(made.body.warnings).toEqual(['actions[0]: the automation’s creator has not connected forge yet']);
  remote.person = { login: 'octo-ada', scope: 'read:user' };
  await connect(team.member);
  expect((await save()).body.warnings).toEqual(['actions[0]: the creator’s connection to forge lacks repo']);
  remote.person = { login: 'octo-ada' };
  await connect(team.member);
  expect((await save()).body.warnings).toEqual([]);
  const path = `/api/automations/${made.body.automation_id}`;
  expect((await app.as(team.manager).patch(path, { name: 'B' })).body.warnings).toEqual([
    'actions[0]: fails until the creator saves it, because it uses their connection to forge',
  ]);
  expect((await app.as(team.member).patch(path, { name: 'C' })).body.warnings).toEqual([]);
});

describe('acting', () => {
  it('comments and opens issues as the creator of the automation', async () => {
    await connect(team.member);
    const run = await begin([comment, { type: 'forge_create_issue', params: { repo: 'acme/rocket', title: 'T', body: 'B' } }]);
    expect(await act(run)).toEqual({ outcome: 'succeeded' });
    expect(await act(run, 1)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    expect(remote.written).toMatchObject([
      { path: '/repos/acme/rocket/issues/12/comments', login: 'octo-ada', body: expect.stringMatching(/^Merged\n/) },
      { path: '/repos/acme/rocket/issues', title: 'T', login: 'octo-ada' },
    ]);
    expect((await getStep(run)).output).toMatchObject({ status: 201, url: expect.stringContaining('https://forge.test/') });
  });

  it.each(['forge_comment', 'forge_create_issue', 'chat_say'])('%s serves only what its creator saved', async (type) => {
    for (const key of ['forge', 'chat']) await connect(team.admin, key);
    const fields = {
      forge_comment: comment.params,
      forge_create_issue: { repo: 'acme/rocket', title: 'T', body: 'B' },
      chat_say: { text: 'T' },
    };
    const actions = [{ type, params: fields[type as keyof typeof fields] }];
    const body = { name: 'Merged', trigger_type: 'manual', team_id: team.team_id, actions };
    const made = (await app.as(team.admin).post('/api/automations', body)).body as { automation_id: string };
    const path = `/api/automations/${made.automation_id}`;
    const start = (fields: Record<string, unknown> = {}) =>
      buildRun(app, team, { automation: made, creator: team.admin, status: 'running', statuses: ['pending'], fields });
    const outcome = async (run: { run_id: string }) => {
      await act(run);
      const { status, error } = await getStep(run);
      return error?.code ?? status;
    };
    const pinned = await start();
    // A manager borrows the connection: by an edit, by a way back to the creator's own words, by a take-back of the edit.
    expect((await app.as(team.manager).patch(path, { name: 'Mine' })).status).toBe(200);
    expect(await outcome(await start())).toBe('connection_not_consented');
    expect(await outcome(await start({ is_test: true }))).toBe('connection_not_consented');
    expect((await app.as(team.manager).post(`${path}/rollback`, { version: 1 })).status).toBe(200);
    expect(await outcome(await start())).toBe('connection_not_consented');
    expect(remote.written).toEqual([]);
    // A run that began before the edit goes on with what the creator wrote.
    expect(await outcome(pinned)).toBe('succeeded');
    // A rename by the creator is no word on what another person saved; saving the actions is.
    expect((await app.as(team.admin).patch(path, { name: 'Not read', is_active: true })).status).toBe(200);
    expect(await outcome(await start())).toBe('connection_not_consented');
    expect((await app.as(team.admin).patch(path, { actions })).status).toBe(200);
    expect(await outcome(await start())).toBe('succeeded');
    expect((await app.as(team.admin).patch(path, { name: 'Read and agreed' })).status).toBe(200);
    expect(await outcome(await start())).toBe('succeeded');
    expect((await app.as(team.manager).patch(path, { condition: 'true' })).status).toBe(200);
    expect((await app.as(team.admin).patch(path, { description: 'Not read' })).status).toBe(200);
    expect(await outcome(await start())).toBe('connection_not_consented');
    expect((await app.as(team.admin).put(path, { ...body, name: 'Read and agreed' })).status).toBe(200);
    expect(await outcome(await start())).toBe('succeeded');
    expect((await app.as(team.manager).patch(path, { description: 'Again' })).status).toBe(200);
    const last = await start();
    expect(await outcome(last)).toBe('connection_not_consented');
    expect((await getStep(last)).error.message).toContain('the creator must save them again');
  });

  it('finds what an attempt with a lost response wrote, and does not write it again', async () => {
    await connect(team.member);
    const run = await begin([comment]);
    remote.next = 'lost';
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await makeDue(run);
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    expect(remote.written).toHaveLength(1);
    expect((await getStep(run)).output).toMatchObject({ status: 200, id: remote.written[0]?.id });
  });

  it.each([
    ['is away', { status: 503 }],
    ['says something else', { status: 200, body: '{"message":"maintenance"}' }],
    ['does not find it', { status: 404, body: '[]' }],
  ])('where the list of what was written %s, nothing is written until it is there', async (_what, fault) => {
    await connect(team.member);
    const run = await begin([comment]);
    remote.next = 'denied';
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await makeDue(run);
    remote.faults.list = [fault];
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await makeDue(run);
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    expect(remote.written).toHaveLength(1);
    expect(await getStep(run)).toMatchObject({ attempts: 3, output: { status: 200, id: remote.written[0]?.id } });
  });

  it('finds what was written behind a hundred others, and reports a token revoked meanwhile at once', async () => {
    await connect(team.member);
    const other = { path: '/repos/acme/rocket/issues/12/comments', login: 'x', body: 'Me too', at: new Date().toISOString() };
    for (let id = 1_000; id < 1_250; id += 1) remote.written.push({ ...other, id });
    const [run, late] = [await begin([comment]), await begin([comment])];
    for (const each of [run, late]) {
      remote.next = 'lost';
      expect(await act(each)).toMatchObject({ outcome: 'waiting' });
      await makeDue(each);
    }
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    expect((await getStep(run)).output).toMatchObject({ status: 200, id: remote.written[250]?.id });
    remote.revokeAll();
    expect(await act(late)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(late)).error.code).toBe('integration_disconnected');
    expect(remote.written).toHaveLength(252);
  });

  it('fails where the connection does not allow it, is not accepted any more, or the forge says no, and shows no token', async () => {
    remote.person = { login: 'octo-ada', scope: 'read:user' };
    await connect(team.member);
    const narrow = await begin([comment]);
    await act(narrow);
    expect((await getStep(narrow)).error.code).toBe('missing_scopes');
    remote.person = { login: 'octo-ada' };
    await connect(team.member);
    remote.next = 422;
    const refused = await begin([comment]);
    await act(refused);
    expect(await getStep(refused)).toMatchObject({ error: { code: 'http_status', message: 'The code host returned 422' } });
    remote.revokeAll();
    const revoked = await begin([comment]);
    await act(revoked);
    const step = await getStep(revoked);
    expect(step).toMatchObject({ error: { code: 'integration_disconnected' }, output: { status: 401 } });
    expect(step.output.body).toContain('[secret]');
    expect(JSON.stringify([step, await getStep(refused)])).not.toContain('canary-');
  });

  it('renews a token that runs out, once, however many actions need it at the same time', async () => {
    remote.expiresIn = 30; // within five minutes: stale at once
    await connect(team.member);
    remote.expiresIn = 3_600;
    const runs = await Promise.all([1, 2, 3, 4].map(() => begin([comment])));
    const outcomes = await Promise.all(runs.map((run) => act(run)));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    expect([remote.refreshed, remote.refused]).toEqual([1, 0]);
  });

  it('an expired token waits for its renewal, and reports when the service does not renew it', async () => {
    remote.expiresIn = 3_600;
    await connect(team.member);
    const row = () => db()('integration_connections').where({ user_id: team.member.user_id });
    const ago = db().raw("now() - interval '1 second'");
    await row().update({ expires_at: ago, refresh_lease_until: db().raw("now() + interval '1 minute'") });
    const run = await begin([comment]);
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    expect((await getStep(run)).error.code).toBe('integration_renewing');
    await makeDue(run);
    // The one that renewed it has died: its time is over.
    await row().update({ refresh_lease_until: ago });
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    expect(await row().first()).toMatchObject({ refresh_lease_until: null });
    await row().update({ expires_at: ago });
    const away = { ...app.services, config: { ...app.services.config, FORGE_URL: 'http://127.0.0.1:1' } };
    const [id, scopes] = [team.member.user_id, ['repo']];
    for (const _attempt of [1, 2]) {
      await expect(accessToken(away, forge, id, scopes)).rejects.toMatchObject({ reason: 'connection_failed' });
    }
    remote.revokeAll();
    const late = await begin([comment]);
    expect(await act(late)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(late)).error.code).toBe('integration_disconnected');
  });

  it('a service that is away when a token runs out does not end the connection: tried again, when it says', async () => {
    remote.expiresIn = 3_600;
    await connect(team.member);
    const row = () => db()('integration_connections').where({ user_id: team.member.user_id });
    await row().update({ expires_at: db().raw("now() - interval '1 second'") });
    remote.faults.tokens = [{ status: 503, headers: { 'retry-after': '30' } }];
    const run = await begin([comment]);
    expect(await act(run)).toMatchObject({ outcome: 'waiting', wait: { msLeft: 30_000 } });
    expect((await getStep(run)).error).toEqual({
      code: 'connection_failed',
      message: 'Connection failed: the service returned 503 with an unexpected response',
    });
    await makeDue(run);
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    await row().update({ expires_at: db().raw("now() - interval '1 second'") });
    remote.faults.tokens = [{ status: 400, body: '{"error":"invalid_grant"}' }];
    const refused = await begin([comment]);
    expect(await act(refused)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(refused)).error.code).toBe('integration_disconnected');
  });

  it.each([['../../user'], ['acme/..'], ['acme'], ['acme/rocket/issues'], ['acme/rocket?x=1'], ['a b/c'], ['']])(
    'a repository such as %j is refused when it is saved and when it is filled in',
    async (repo) => {
      const saved = await app.as(team.member).post('/api/automations', {
        name: 'A',
        trigger_type: 'task.created',
        team_id: team.team_id,
        actions: [{ ...comment, params: { ...comment.params, repo } }],
      });
      expect(saved.status).toBe(400);
    },
  );
});

describe('another service', () => {
  it('is listed, connected and acts, without a change elsewhere', async () => {
    expect(await listed(team.member)).toContainEqual(expect.objectContaining({ key: 'chat', available: true, connected: false }));
    expect((await connect(team.member, 'chat')).status).toBe(200);
    expect(await listed(team.member)).toContainEqual(
      expect.objectContaining({ key: 'chat', account: 'ada-in-chat', scopes_granted: ['say'] }),
    );
    expect(await findAction(team.member, 'chat_say')).toMatchObject({ integration: 'chat', connected: true, missing_scopes: [] });
    const run = await begin([{ type: 'chat_say', params: { text: 'Hello' } }]);
    expect(await act(run)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    expect((await getStep(run)).output).toEqual({ said: true, by: team.member.user_id });
    const stranger = await buildPerson(app);
    expect((await listed(stranger)).every(({ connected }: { connected: boolean }) => !connected)).toBe(true);
  });
});
