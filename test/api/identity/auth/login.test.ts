import { SignJWT } from 'jose';
import { createUser } from '../../../../api/identity/admin/create-user.js';
import { verifyJwt } from '../../../../api/identity/auth/verify-jwt.js';
import type { Context } from '../../../../api/platform/context.js';
import { v7 as uuidv7 } from 'uuid';
import { buildPerson, buildTeam, buildToken } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

const PASSWORD = 'correct horse battery';
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ LOCKOUT_FAILURES: '5' });
});
afterAll(() => app.close());

const context = (): Context => {
  const requestId = uuidv7();
  return {
    ...app.services,
    actor: { type: 'system', name: 'test' },
    requestId,
    correlationId: requestId,
    ip: null,
    userAgent: null,
  };
};

let count = 0;
/** An account that signs in by password alone, by default. */
async function buildAccount(fields: Record<string, unknown> = {}): Promise<{ email: string; user_id: string }> {
  count += 1;
  const email = `person${count}@test.example`;
  const user_id = await createUser(context(), { email, name: 'Person', password: PASSWORD, role: 'user', loginOtpExempt: true });
  if (Object.keys(fields).length > 0) await app.services.db('users').where({ user_id }).update(fields);
  return { email, user_id };
}

const logIn = (email: unknown, password: unknown = PASSWORD) => app.as().post('/api/auth/login', { email, password });

describe('POST /api/auth/login', () => {
  it('200 gives a token that works, and records the sign-in', async () => {
    const { email, user_id } = await buildAccount();
    const { status, body } = await logIn(` ${email.toUpperCase()} `);
    expect(status).toBe(200);
    expect(body).toMatchObject({ requires_2fa: false, requires_login_otp: false, user: { user_id, email, auth_method: 'jwt' } });
    expect((await app.as(body.token).get('/api/auth/me')).body.user_id).toBe(user_id);
    expect(await app.services.db('audit_entries').where({ entity_id: user_id, action: 'login' })).toHaveLength(1);
  });

  it.each([
    ['two-factor', { two_factor_enabled_at: new Date() }, { requires_2fa: true, requires_login_otp: false }],
    ['mailed code', { login_otp_exempt: false }, { requires_2fa: false, requires_login_otp: true }],
  ])('200 answers a %s account with a challenge: exactly these keys, no token, no session', async (_what, fields, challenge) => {
    const { email, user_id } = await buildAccount(fields);
    const { status, body } = await logIn(email);
    expect(status).toBe(200);
    expect(body).toEqual({ ...challenge, email });
    expect(await app.services.db('sessions').where({ user_id })).toHaveLength(0);
  });

  it('401 says the same to unknown, wrong, suspended, locked and passwordless', async () => {
    const right = await buildAccount();
    const suspended = await buildAccount({ status: 'suspended' });
    const locked = await buildAccount();
    for (let i = 0; i < 5; i += 1) await logIn(locked.email, 'wrong');
    const passwordless = await buildAccount({ password_hash: null });
    const answers = [
      await logIn('nobody@test.example'),
      await logIn('no address at all \0'),
      await logIn(right.email, 'wrong'),
      await logIn(suspended.email),
      await logIn(locked.email),
      await logIn(passwordless.email),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(401);
      expect(body).toMatchObject({
        error_code: 'AUTHENTICATION_REQUIRED',
        message: 'Invalid credentials',
        detail: 'The credential is missing, wrong, expired or revoked.',
      });
    }
  });

  it('422 refuses arrays where scalars belong', async () => {
    expect((await logIn(['a@test.example', 'b@test.example'])).status).toBe(422);
    expect((await logIn('a@test.example', { a: 1 })).status).toBe(422);
  });

  it('429 after the limit of an address, with its headers', async () => {
    const limited = await startApp({ RATE_LIMIT_LOGIN: '3' });
    try {
      const call = () => limited.as().post('/api/auth/login', { email: 'x@test.example', password: 'x' });
      const answers = [await call(), await call(), await call(), await call()];
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
      expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"login";r=2;t=\d+$/);
      expect(answers[3]?.headers.get('ratelimit-policy')).toBe('"login";q=3;w=60');
      expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answers[3]?.body).toMatchObject({ error_code: 'RATE_LIMIT_EXCEEDED' });
    } finally {
      await limited.close();
    }
  });
});

describe('credentials', () => {
  const sign = (claims: Record<string, unknown>, { alg = 'HS256', key = app.services.config.JWT_SECRET, typ = 'JWT' } = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg, typ }).sign(new TextEncoder().encode(key));
  const readClaims = async () => {
    const person = await buildPerson(app);
    const session = await app.services.db('sessions').where({ user_id: person.user_id }).first();
    const now = Math.floor(Date.now() / 1000);
    return {
      person,
      claims: { iss: 'assent', aud: 'assent-api', sub: person.user_id, sid: session.session_id, iat: now, exp: now + 600 },
    };
  };
  const me = (token: string) => app.as(token).get('/api/auth/me');

  it('accepts exactly our own signature and claims', async () => {
    const { claims } = await readClaims();
    expect((await me(await sign(claims))).status).toBe(200);
    const { exp: _exp, ...endless } = claims;
    const { sid: _sid, ...sessionless } = claims;
    const wrong = [
      await sign(claims, { alg: 'HS384' }),
      await sign(claims, { key: 'another secret of at least 32 bytes!' }),
      await sign(claims, { typ: 'at+jwt' }),
      await sign(endless),
      await sign(sessionless),
      await sign({ ...claims, exp: claims.iat - 60 }),
      await sign({ ...claims, aud: 'elsewhere' }),
      await sign({ ...claims, iss: 'elsewhere' }),
      await sign({ ...claims, sub: (await buildPerson(app)).user_id }),
      await sign({ ...claims, sid: 'garbage' }),
      `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
    ];
    for (const token of wrong) expect((await me(token)).status).toBe(401);
  });

  it('a token that was accepted is refused with another key, for another use, changed, and once it expired', async () => {
    const { claims } = await readClaims();
    const token = await sign(claims);
    const { services } = app;
    for (let times = 0; times < 2; times += 1) expect(await verifyJwt(services, token, 'api')).toEqual(claims);
    const rotated = { config: { ...services.config, JWT_SECRET: 'another secret of at least 32 bytes!' } };
    await expect(verifyJwt(rotated, token, 'api')).rejects.toThrow('signature verification failed');
    await expect(verifyJwt(services, token, 'web')).rejects.toThrow('"aud"');
    await expect(verifyJwt(services, `${token.slice(0, -4)}AAAA`, 'api')).rejects.toThrow('signature verification failed');
    await expect(verifyJwt(services, token, 'api', (claims.exp + 6) * 1_000)).rejects.toThrow('"exp"');
  });

  it('a session that ended or a suspended owner is refused on the very next request', async () => {
    const { person, claims } = await readClaims();
    const pat = await buildToken(app, person, ['tasks:read']);
    expect((await me(pat)).body).toMatchObject({ user_id: person.user_id, auth_method: 'pat' });
    await app.services.db('sessions').where({ session_id: claims.sid }).update({ ended_at: new Date() });
    expect((await me(person.token)).status).toBe(401);
    expect((await me(pat)).status).toBe(200);
    await app.services.db('users').where({ user_id: person.user_id }).update({ status: 'suspended' });
    expect((await me(pat)).status).toBe(401);
  });

  it('missing, malformed, expired and revoked tokens cannot be told apart', async () => {
    const person = await buildPerson(app);
    const expired = await buildToken(app, person, ['tasks:read'], { expires_at: new Date(Date.now() - 1000) });
    const revoked = await buildToken(app, person, ['tasks:read'], { revoked_at: new Date() });
    const answers = await Promise.all([me(''), me('svc_pat_x'), me('garbage'), me(expired), me(revoked)]);
    const told = answers.map(({ status, body: { correlation_id: _id, timestamp: _at, ...rest } }) => ({ status, ...rest }));
    for (const answer of told) expect(answer).toEqual(told[0]);
    expect(told[0]).toMatchObject({ error_code: 'AUTHENTICATION_REQUIRED' });
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it('the demo token is refused in production', async () => {
    const { authenticate } = await import('../../../../api/identity/auth/authenticate.js');
    const { DEMO_TOKEN } = await import('../../../../api/platform/demo-token.js');
    const { computeHash: hashOf } = await import('../../../../api/identity/auth/authenticate.js');
    const person = await buildPerson(app);
    const token = {
      user_id: person.user_id,
      name: 'demo',
      scopes: ['admin:*'],
      token_hash: hashOf(DEMO_TOKEN),
      prefix: 'svc_pat_demo',
    };
    await app.services.db('personal_access_tokens').insert(token);
    expect((await me(DEMO_TOKEN)).status).toBe(200);
    const production = { ...app.services, config: { ...app.services.config, NODE_ENV: 'production' as const } };
    await expect(authenticate(production, `Bearer ${DEMO_TOKEN}`)).rejects.toMatchObject({ status: 401 });
  });

  it('notes the use of a token, at most once a minute', async () => {
    const person = await buildPerson(app);
    const pat = await buildToken(app, person, ['tasks:read']);
    const used = async () =>
      (await app.services.db('personal_access_tokens').where({ user_id: person.user_id }).first()).last_used_at as Date | null;
    await me(pat);
    const first = await until(used);
    await me(pat);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await used()).toEqual(first);
  });
});

it('GET /api/auth/me lists the own teams with the best plan', async () => {
  const team = await buildTeam(app);
  const { body } = await app.as(team.manager).get('/api/auth/me');
  expect(body).toMatchObject({
    plan: 'scale',
    entitlements: ['audit_logs'],
    teams: [{ team_id: team.team_id, role: 'manager' }],
    impersonated_by: null,
  });
  expect((await app.as(await buildPerson(app)).get('/api/auth/me')).body).toMatchObject({
    plan: 'free',
    entitlements: [],
    teams: [],
  });
});

it('the demo’s facts on the first screen are the demo’s', async () => {
  const { DEMO_TOKEN } = await import('../../../../api/platform/demo-token.js');
  const { readFileSync } = await import('node:fs');
  const facts = JSON.parse(readFileSync(new URL('../../../../scripts/embedded/demo-facts.json', import.meta.url), 'utf8'));
  expect(facts.token).toBe(DEMO_TOKEN);
});
