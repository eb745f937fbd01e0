import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { issueToken } from '../../../../api/identity/auth/authenticate.js';
import { buildAccount, PASSWORD, type TestAccount } from '../../../factories/accounts.js';
import { buildPerson, buildToken } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

// Sessions and their tokens.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const logIn = async ({ email }: TestAccount) => (await app.as().post('/api/auth/login', { email, password: PASSWORD })).body;
const me = (token: string) => app.as(token).get('/api/auth/me');
const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
const age = (session_id: string, column: string, interval: string) =>
  app.services
    .db('sessions')
    .where({ session_id })
    .update({ [column]: app.services.db.raw(`now() ${interval}`) });

describe('a token', () => {
  it('lives 60 minutes and says who, which session, and nothing else', async () => {
    const eve = await buildAccount(app);
    const { token } = await logIn(eve);
    const { iat, exp, sid, ...rest } = claimsIn(token);
    expect(rest).toEqual({ iss: 'assent', aud: 'assent-api', sub: eve.user_id });
    expect(exp - iat).toBe(3_600);
    expect(await app.services.db('sessions').where({ session_id: sid }).first()).toMatchObject({ user_id: eve.user_id });
  });

  it('every sign-in opens a session of its own: none can be brought along', async () => {
    const eve = await buildAccount(app);
    const first = await logIn(eve);
    const second = await app
      .as(first.token)
      .post('/api/auth/login', { email: eve.email, password: PASSWORD, session_id: claimsIn(first.token).sid });
    expect(claimsIn(second.body.token).sid).not.toBe(claimsIn(first.token).sid);
  });

  it('of another algorithm, key, time or with a claim too few is refused', async () => {
    const eve = await buildAccount(app);
    const claims = claimsIn((await logIn(eve)).token);
    const key = new TextEncoder().encode(app.services.config.JWT_SECRET);
    const sign = (body: object, alg = 'HS256', by: Parameters<SignJWT['sign']>[0] = key, header: object = {}) =>
      new SignJWT({ ...body }).setProtectedHeader({ alg, typ: 'JWT', ...header }).sign(by);
    const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const now = Math.floor(Date.now() / 1000);
    expect((await me(await sign(claims))).status).toBe(200);
    const wrong: Record<string, string> = {
      none: `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
      'none with a signature': `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.${(await sign(claims)).split('.')[2]}`,
      HS384: await sign(claims, 'HS384'),
      HS512: await sign(claims, 'HS512'),
      RS256: await sign(claims, 'RS256', privateKey),
      'another key': await sign(claims, 'HS256', new TextEncoder().encode('k'.repeat(48))),
      'an empty key': await sign(claims, 'HS256', new TextEncoder().encode('\0'.repeat(32))),
      'a key of its own': await sign(claims, 'HS256', new TextEncoder().encode('k'.repeat(48)), {
        jwk: { kty: 'oct', k: 'a2s' },
        kid: '../../dev/null',
      }),
      expired: await sign({ ...claims, iat: now - 7_200, exp: now - 60 }),
      'not yet valid': await sign({ ...claims, nbf: now + 600 }),
      'without exp': await sign(without('exp')),
      'without iat': await sign(without('iat')),
      'without sub': await sign(without('sub')),
      'without sid': await sign(without('sid')),
      'without iss': await sign(without('iss')),
      'without aud': await sign(without('aud')),
      'another issuer': await sign({ ...claims, iss: 'elsewhere' }),
      'an array as subject': await sign({ ...claims, sub: [claims.sub] }),
      'an array as session': await sign({ ...claims, sid: [claims.sid] }),
      'another subject': await sign({ ...claims, sub: (await buildAccount(app)).user_id }),
      'an actor that the session does not know': await sign({ ...claims, act: { sub: uuidv7() } }),
      'an odd actor': await sign({ ...claims, act: 'root' }),
      'no actor': await sign({ ...claims, act: null }),
      'an access token type': await sign(claims, 'HS256', key, { typ: 'at+jwt' }),
    };
    for (const [name, token] of Object.entries(wrong)) {
      expect([name, (await me(token)).status]).toEqual([name, 401]);
      if (name !== 'expired') expect([name, (await app.as(token).post('/api/auth/refresh')).status]).toEqual([name, 401]);
    }
  });

  it('of an impersonation needs the claim that the session names', async () => {
    const [eve, root] = [await buildAccount(app), await buildAccount(app, { role: 'admin' })];
    const session_id = uuidv7();
    const expires_at = new Date(Date.now() + 3_600_000);
    await app.services.db('sessions').insert({ session_id, user_id: eve.user_id, impersonator_id: root.user_id, expires_at });
    const issue = (impersonatorId?: string) =>
      issueToken(app.services, eve.user_id, session_id, { ...(impersonatorId ? { impersonatorId } : {}), minutes: 30 });
    const { token } = await issue(root.user_id);
    expect(claimsIn(token)).toMatchObject({ act: { sub: root.user_id }, sub: eve.user_id });
    expect(claimsIn(token).exp - claimsIn(token).iat).toBe(1_800);
    const answer = await me(token);
    expect([answer.status, answer.headers.get('x-impersonated-by')]).toEqual([200, root.user_id]);
    expect((await me((await issue()).token)).status).toBe(401);
    expect((await me((await issue(eve.user_id)).token)).status).toBe(401);
    expect((await app.as(token).post('/api/auth/refresh')).status).toBe(403);
    for (const path of ['2fa/enroll', '2fa/activate', '2fa/disable', '2fa/recovery-codes', 'password/change'])
      expect([path, (await app.as(token).post(`/api/auth/${path}`, {})).status]).toEqual([path, 403]);
    expect((await app.as(token).get('/api/auth/devices')).status).toBe(403);
    const own = (await logIn(eve)).token;
    expect((await app.as(own).get('/api/auth/sessions')).body).toHaveLength(1);
    expect((await app.as(token).post('/api/auth/logout')).status).toBe(200);
    expect([(await me(token)).status, (await me(own)).status]).toEqual([401, 200]);
  });
});

describe('refresh', () => {
  const refresh = (token: string) => app.as(token).post('/api/auth/refresh');

  it('gives a new token of the same session, also when the old one is over', async () => {
    const eve = await buildAccount(app);
    const { token } = await logIn(eve);
    const { status, body } = await refresh(token);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['expires_at', 'token']);
    expect(claimsIn(body.token).sid).toBe(claimsIn(token).sid);
    expect(new Date(body.expires_at).getTime()).toBe(claimsIn(body.token).exp * 1000);
    expect((await me(body.token)).status).toBe(200);
    const over = (await issueToken(app.services, eve.user_id, claimsIn(token).sid, { minutes: -30 })).token;
    expect([(await me(over)).status, (await refresh(over)).status]).toEqual([401, 200]);
  });

  it('401 after logout, after 12 h idle, after 30 days, and to a suspended owner; 403 to a token', async () => {
    const refused = async (spoil: (eve: TestAccount, token: string) => Promise<unknown>) => {
      const eve = await buildAccount(app);
      const { token } = await logIn(eve);
      await spoil(eve, token);
      return (await refresh(token)).status;
    };
    expect(await refused((_eve, token) => app.as(token).post('/api/auth/logout'))).toBe(401);
    expect(await refused((_eve, token) => age(claimsIn(token).sid, 'last_seen_at', "- interval '12 hours 1 second'"))).toBe(401);
    expect(await refused((_eve, token) => age(claimsIn(token).sid, 'last_seen_at', "- interval '11 hours 59 minutes'"))).toBe(
      200,
    );
    expect(await refused((_eve, token) => age(claimsIn(token).sid, 'expires_at', "- interval '1 second'"))).toBe(401);
    expect(await refused(({ user_id }) => app.services.db('users').where({ user_id }).update({ status: 'suspended' }))).toBe(401);
    const person = await buildPerson(app);
    expect((await refresh(await buildToken(app, person, ['admin:*']))).status).toBe(403);
  });

  it('no token outlives its session', async () => {
    const { token } = await logIn(await buildAccount(app));
    await age(claimsIn(token).sid, 'expires_at', "+ interval '10 minutes'");
    const { body } = await refresh(token);
    expect(new Date(body.expires_at).getTime() - Date.now()).toBeLessThanOrEqual(600_000);
  });
});

describe('sessions', () => {
  it('are listed to their owner, the present one marked, and end at once when revoked', async () => {
    const [eve, other] = [await buildAccount(app), await buildAccount(app)];
    const [here, there, foreign] = [(await logIn(eve)).token, (await logIn(eve)).token, (await logIn(other)).token];
    const { body } = await app.as(here).get('/api/auth/sessions');
    expect(body.map((session: { session_id: string; current: boolean }) => [session.session_id, session.current])).toEqual([
      [claimsIn(there).sid, false],
      [claimsIn(here).sid, true],
    ]);
    expect(Object.keys(body[0]).toSorted()).toEqual([
      'created_at',
      'current',
      'ip_address',
      'last_seen_at',
      'session_id',
      'user_agent',
    ]);
    const revoke = (id: string) => app.as(here).delete(`/api/auth/sessions/${id}`);
    expect((await revoke(claimsIn(foreign).sid)).status).toBe(404);
    expect((await me(foreign)).status).toBe(200);
    const gone = await revoke(claimsIn(there).sid);
    expect([gone.status, gone.body]).toEqual([200, { success: true, session_id: claimsIn(there).sid }]);
    expect((await me(there)).status).toBe(401);
    expect((await revoke(claimsIn(there).sid)).status).toBe(404);
    expect((await app.as(here).get('/api/auth/sessions')).body).toHaveLength(1);
  });

  it('logout ends the present one, and no other', async () => {
    const eve = await buildAccount(app);
    const [here, there] = [(await logIn(eve)).token, (await logIn(eve)).token];
    const { status, body } = await app.as(here).post('/api/auth/logout');
    expect([status, body]).toEqual([200, { success: true }]);
    expect([(await me(here)).status, (await me(there)).status]).toEqual([401, 200]);
    expect((await app.as(here).post('/api/auth/logout')).status).toBe(401);
  });

  it('their use is noted once a minute, beside the requests', async () => {
    const { token } = await logIn(await buildAccount(app));
    const session_id = claimsIn(token).sid as string;
    const seen = async () => (await app.services.db('sessions').where({ session_id }).first()).last_seen_at as Date;
    const first = await seen();
    await me(token);
    await age(session_id, 'last_seen_at', "- interval '2 hours'");
    const stale = await seen();
    await Promise.all(Array.from({ length: 20 }, () => me(token)));
    await until(async () => (await seen()) > stale);
    expect((await seen()).getTime()).toBeGreaterThanOrEqual(first.getTime());
  });
});
