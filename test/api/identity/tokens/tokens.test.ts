import { createHash } from 'node:crypto';
import { type Scope, SCOPES } from '../../../../api/platform/access/scopes.js';
import { buildPerson, buildProject, buildTask, buildTeam, buildToken, type Person } from '../../../factories/people.js';
import { buildRun, GATE } from '../../../factories/runs.js';
import { type Answer, type Client, startApp, startSibling, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { resend } from '../../../support/resend.js';

// Personal access tokens.

const URL = '/api/auth/tokens';
const DAY_MS = 86_400_000;

let app: TestApp;
let sibling: Awaited<ReturnType<typeof startSibling>>;
let ada: Person;
let me: Client;
beforeAll(async () => {
  app = await startApp();
  sibling = await startSibling(app);
});
afterAll(async () => {
  await sibling.close();
  await app.close();
});
beforeEach(async () => {
  ada = await buildPerson(app);
  me = app.as(ada);
});

const db = () => app.services.db;
const toRow = (token_id: string) => db()('personal_access_tokens').where({ token_id }).first();
const findAudit = (entity_id: string) => db()('audit_entries').where({ entity_id }).orderBy('timestamp');
const create = (body: object = {}) => me.post(URL, { name: 'CI', scopes: ['tasks:read'], ...body });
const made = async (body: object = {}) => (await create(body)).body as { token: string; token_id: string };
const asks = (credential: string, by: Pick<TestApp, 'as'> = app) => by.as(credential).get('/api/auth/me');
/** Parts of an error response that may differ; id and time always do. */
const words = ({ status, headers, body }: Answer) => [
  status,
  body.error_code,
  body.message,
  body.detail,
  headers.get('www-authenticate'),
];

describe('POST /api/auth/tokens', () => {
  it('201 shows the secret once, in the contract’s form, and everything else masked', async () => {
    const { status, body } = await create({ scopes: ['tasks:write', 'tasks:read', 'tasks:write'] });
    expect(status).toBe(201);
    expect(body.token).toMatch(/^svc_pat_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(body.token.slice(8), 'base64url')).toHaveLength(32);
    const { token, ...record } = body;
    expect(record).toEqual({
      token_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'CI',
      scopes: ['tasks:write', 'tasks:read'],
      strict: false,
      mcp_only: false,
      prefix: `${token.slice(0, 12)}...`,
      token_prefix: `${token.slice(0, 12)}...`,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_at: null,
      revoked: false,
      status: 'active',
    });
    expect((await me.get(URL)).body).toEqual({ tokens: [record] });
  });

  it('the secret is in no table but as its SHA-256', async () => {
    const { token, token_id } = await made();
    expect((await toRow(token_id)).token_hash).toEqual(createHash('sha256').update(token).digest());
    const tables = await db()('pg_tables').where({ schemaname: 'public' }).pluck<string[]>('tablename');
    expect(tables).toContain('personal_access_tokens');
    for (const table of tables) {
      const { rows } = await db().raw(`select from ${table} as t where strpos(t::text, ?) > 0`, [token.slice(12)]);
      expect([table, rows]).toEqual([table, []]);
    }
  });

  it.each([
    ['left out: 90 days', {}, 90],
    ['null: never', { expires_in_days: null }, null],
    ['0: never', { expires_in_days: 0 }, null],
    ['1 day', { expires_in_days: 1 }, 1],
    ['3650 days', { expires_in_days: 3650 }, 3650],
  ])('expiry %s', async (_what, body, days) => {
    const { created_at, expires_at } = (await create(body)).body;
    expect(expires_at === null ? null : (Date.parse(expires_at) - Date.parse(created_at)) / DAY_MS).toBe(days);
  });

  it.each([
    ['an unknown scope', { scopes: ['tasks:read', 'tasks:delete'] }, 400],
    ['a name of every object', { scopes: ['constructor'] }, 400],
    ['no scope', { scopes: [] }, 400],
    ['scopes missing', { scopes: undefined }, 422],
    ['a scope for the list', { scopes: 'tasks:read' }, 422],
    ['a number for a scope', { scopes: [1] }, 422],
    ['3651 days', { expires_in_days: 3651 }, 422],
    ['-1 days', { expires_in_days: -1 }, 422],
    ['half a day', { expires_in_days: 0.5 }, 422],
    ['days in words', { expires_in_days: '30' }, 422],
    ['no name', { name: undefined }, 422],
    ['an empty name', { name: '   ' }, 422],
    ['strict in words', { strict: 'true' }, 422],
    ['a list for the name', { name: ['CI'] }, 422],
    ['201 characters', { name: '🚀'.repeat(201) }, 422],
  ])('refuses %s and stores nothing', async (_what, body, status) => {
    const answer = await create(body);
    expect(answer.status).toBe(status);
    expect(answer.body.error_code).toBe(status === 400 ? 'INVALID_REQUEST' : 'VALIDATION_ERROR');
    expect((await me.get(URL)).body).toEqual({ tokens: [] });
  });

  it('takes 200 characters, and every scope of the contract', async () => {
    expect((await create({ name: '🚀'.repeat(200), scopes: Object.keys(SCOPES) })).status).toBe(201);
  });

  it('strict is in the record, the list and the audit entry; left out and null it is false', async () => {
    const answers = [
      await create({ strict: true }),
      await create(),
      await create({ strict: null }),
      await create({ strict: false }),
    ];
    const wanted = [true, false, false, false];
    expect(answers.map(({ body }) => body.strict)).toEqual(wanted);
    const listed = (await me.get(URL)).body.tokens as { strict: boolean }[];
    expect(listed.map(({ strict }) => strict)).toEqual(wanted.toReversed());
    const [entry] = await findAudit(answers[0]?.body.token_id);
    expect(JSON.parse(entry.details)).toMatchObject({ strict: true });
  });

  it('80 at once leave exactly 50 active', async () => {
    const answers = await Promise.all(Array.from({ length: 80 }, () => resend(() => create())));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.filter(({ status, body }) => status === 400 && body.error_code === 'INVALID_REQUEST')).toHaveLength(30);
    expect((await me.get(URL)).body.tokens).toHaveLength(50);
  });

  it('expired and revoked ones leave the count', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => made()));
    expect((await create()).status).toBe(400);
    await me.delete(`${URL}/${tokens[0]?.token_id}`);
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(400);
    await db()('personal_access_tokens').where({ token_id: tokens[1]?.token_id }).update({ expires_at: new Date() });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(400);
  });

  it('leaves a HIGH entry with name and scopes; no key makes it repeatable, for its answer is never stored', async () => {
    const { token_id } = await made();
    const entries = await findAudit(token_id);
    expect(entries).toMatchObject([{ feature: 'tokens', action: 'create', severity: 'HIGH', user_id: ada.user_id }]);
    expect(JSON.parse(entries[0].details)).toMatchObject({ name: 'CI', scopes: ['tasks:read'] });
    const headers = { 'idempotency-key': 'again' };
    const twice = [
      await me.post(URL, { name: 'a', scopes: ['tasks:read'] }, { headers }),
      await me.post(URL, { name: 'a', scopes: ['tasks:read'] }, { headers }),
    ];
    expect(new Set(twice.map(({ body }) => body.token_id)).size).toBe(2);
    expect(await db()('idempotency_keys').where({ user_id: ada.user_id })).toEqual([]);
  });

  it('403 to a token, even one with every right, on all four routes', async () => {
    const { token, token_id } = await made({ scopes: ['admin:*'] });
    const by = app.as(token);
    const answers = [
      await by.post(URL, { name: 'CI', scopes: ['tasks:read'] }),
      await by.get(URL),
      await by.get(`${URL}/scopes`),
      await by.delete(`${URL}/${token_id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await me.get(URL)).body.tokens).toHaveLength(1);
  });
});

describe('GET', () => {
  it('lists newest first, with those that ended; revoked wins over expired; nobody else’s', async () => {
    const ids: string[] = [];
    for (const name of ['first', 'second', 'third', 'fourth']) ids.push((await made({ name })).token_id);
    await db()('personal_access_tokens')
      .whereIn('token_id', ids.slice(1, 3))
      .update({ expires_at: new Date(0) });
    await me.delete(`${URL}/${ids[2]}`);
    const { tokens } = (await me.get(URL)).body;
    expect(tokens.map(({ name, status, revoked }: Record<string, unknown>) => [name, status, revoked])).toEqual([
      ['fourth', 'active', false],
      ['third', 'revoked', true],
      ['second', 'expired', false],
      ['first', 'active', false],
    ]);
    expect((await app.as(await buildPerson(app)).get(URL)).body).toEqual({ tokens: [] });
  });

  it('the scopes, with the labels of the contract', async () => {
    const { body } = await me.get(`${URL}/scopes`);
    expect(body.scopes).toHaveLength(14);
    expect(body.scopes).toContainEqual({ key: 'tasks:write', label: 'Create & update work items' });
    expect(body.scopes).toContainEqual({ key: 'admin:*', label: 'Full account access (admin)' });
  });
});

describe('DELETE', () => {
  it('revokes on the very next request, of every process; again, it is 200 and nothing new', async () => {
    const { token, token_id } = await made();
    for (const by of [app, sibling, app, sibling]) expect((await asks(token, by)).status).toBe(200);
    const answer = await sibling.as(ada.token).delete(`${URL}/${token_id}`);
    expect(answer).toMatchObject({ status: 200, body: { success: true, token_id, revoked: true } });
    for (const by of [app, sibling]) expect((await asks(token, by)).status).toBe(401);
    const { revoked_at } = await toRow(token_id);
    expect((await me.delete(`${URL}/${token_id}`)).body).toEqual({ success: true, token_id, revoked: true });
    expect((await toRow(token_id)).revoked_at).toEqual(revoked_at);
    expect(await findAudit(token_id)).toMatchObject([{ action: 'create' }, { action: 'revoke', severity: 'HIGH' }]);
  });

  it('returns the same 404 for unknown, malformed and foreign tokens, and the foreign one still works', async () => {
    const other = await buildPerson(app);
    const theirs = (await app.as(other).post(URL, { name: 'x', scopes: ['tasks:read'] })).body;
    const answers = await Promise.all(
      [theirs.token_id, ada.user_id, 'garbage', theirs.token].map((id) => me.delete(`${URL}/${id}`)),
    );
    for (const answer of answers)
      expect(words(answer)).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
        'Token not found',
        'It does not exist, or it was deleted. What is in the trash can be restored.',
        null,
      ]);
    expect((await asks(theirs.token)).status).toBe(200);
  });
});

describe('as a credential', () => {
  it('works while two-factor sign-in is on', async () => {
    const { token } = await made();
    await db()('users').where({ user_id: ada.user_id }).update({ two_factor_secret: 'x', two_factor_enabled_at: new Date() });
    expect(await asks(token)).toMatchObject({ status: 200, body: { two_factor_enabled: true, auth_method: 'pat' } });
  });

  it('every refusal reads the same: missing, malformed, unknown, expired, revoked, of a suspended or a deprovisioned person', async () => {
    const [expired, revoked] = [
      await buildToken(app, ada, ['admin:*'], { expires_at: new Date() }),
      await buildToken(app, ada, ['admin:*'], { revoked_at: new Date() }),
    ];
    const owned = async (status: 'suspended' | 'deprovisioned') =>
      buildToken(app, await buildPerson(app, { status }), ['admin:*']);
    const good = await buildToken(app, ada, ['admin:*']);
    const refused = await Promise.all([
      app.as().get('/api/auth/me'),
      ...[expired, revoked, await owned('suspended'), await owned('deprovisioned')].map((token) => asks(token)),
      ...['svc_pat_', `svc_pat_${'x'.repeat(43)}`, `${good}x`, good.slice(0, -1), good.toUpperCase(), good.slice(8)].map(
        (token) => asks(token),
      ),
    ]);
    for (const answer of refused) expect(words(answer)).toEqual(words(refused[0] as Answer));
    expect(refused[0]?.status).toBe(401);
    expect((await asks(good)).status).toBe(200);
  });

  it('notes its use at most once a minute, and a note that cannot be written holds up nobody', async () => {
    const { token, token_id } = await made();
    const used = async () => (await toRow(token_id)).last_used_at as Date | null;
    await asks(token);
    const first = await until(used);
    for (let n = 0; n < 5; n += 1) await asks(token);
    expect(await used()).toEqual(first);
    const long = new Date(Date.now() - 61_000);
    await db()('personal_access_tokens').where({ token_id }).update({ last_used_at: long });
    const blocker = await db().transaction();
    await blocker('personal_access_tokens').where({ token_id }).forUpdate();
    // Another transaction locks the row, so the update waits but the request does not.
    expect((await asks(token)).status).toBe(200);
    await blocker.rollback();
    await until(async () => (await used())?.getTime() !== long.getTime());
  });
});

describe('a strict token', () => {
  /** A team whose manager holds the token, a project, a task and a run at its gate. */
  async function buildHeld(scopes: Scope[], strict: boolean) {
    const team = await buildTeam(app);
    const project = await buildProject(app, team);
    const task = await buildTask(app, team, project);
    const { run_id } = await buildRun(app, team, { actions: [GATE] });
    const token = await buildToken(app, team.manager, scopes, { strict });
    return { project, task, run: `/api/automations/runs/${run_id}`, client: app.as(token) };
  }
  const getConditionScope = ({ status, headers, body }: Answer) => [
    status,
    headers.get('x-required-scope'),
    headers.get('x-scope-enforced'),
    status === 403 && body.message,
  ];

  it('that only reads tasks reads tasks, and neither decides nor writes by any way around', async () => {
    const { project, task, run, client } = await buildHeld(['tasks:read'], true);
    const { project_id } = project;
    expect(getConditionScope(await client.get(`/api/tasks?project_id=${project_id}`))).toEqual([
      200,
      'tasks:read',
      'true',
      false,
    ]);
    expect(getConditionScope(await client.get('/api/auth/me'))).toEqual([200, null, null, false]);
    const refused = (scope: Scope) => [403, scope, 'true', `Token is missing the required scope: ${scope}`];
    expect(getConditionScope(await client.post(`${run}/approve`))).toEqual(refused('approvals:decide'));
    expect(getConditionScope(await client.post(`${run}/reject`))).toEqual(refused('approvals:decide'));
    expect(getConditionScope(await client.get('/api/automations/approvals'))).toEqual(refused('automations:read'));
    expect(getConditionScope(await client.post('/api/tasks/bulk', [{ title: 'x', project_id }]))).toEqual(refused('tasks:write'));
    expect(getConditionScope(await client.patch(`/api/tasks/${task.task_id}/status`, { status: 'done' }))).toEqual(
      refused('tasks:write'),
    );
    expect(getConditionScope(await client.patch(`/api/projects/${project_id}`, { name: 'x' }))).toEqual(
      refused('projects:write'),
    );
    expect(getConditionScope(await client.get('/api/teams'))).toEqual(refused('teams:read'));
  });

  it('with the scope reads a run; one that is not strict does without it, and is told that it is not asked', async () => {
    const held = await buildHeld(['automations:read'], true);
    expect(getConditionScope(await held.client.get(held.run))).toEqual([200, 'automations:read', 'true', false]);
    const loose = await buildHeld(['tasks:read'], false);
    expect(getConditionScope(await loose.client.get(loose.run))).toEqual([200, 'automations:read', 'false', false]);
  });

  it('does not read an answer that was stored for another token of its person', async () => {
    const team = await buildTeam(app);
    const { project_id } = await buildProject(app, team);
    const [full, strict] = await Promise.all([
      buildToken(app, team.member, ['admin:*']),
      buildToken(app, team.member, ['tasks:read'], { strict: true }),
    ]);
    const key = { headers: { 'idempotency-key': 'the same' } };
    const task = { title: 'Ship it', project_id };
    expect((await app.as(full).post('/api/tasks/bulk', [task], key)).status).toBe(200);
    const replayed = await app.as(strict).post('/api/tasks/bulk', [task], key);
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([403, null]);
  });
});
