import { checkPassword } from '../../../../api/identity/auth/check-password.js';
import type { Account } from '../../../../api/identity/auth/find-account.js';
import { openSession } from '../../../../api/identity/auth/open-session.js';
import { setPassword } from '../../../../api/identity/auth/password/set-password.js';
import { inTransaction } from '../../../../api/platform/context.js';
import {
  buildAccount,
  buildTwoFactorAccount,
  buildContext,
  mailedCode,
  mailsTo,
  otherCode,
  PASSWORD,
  type TestAccount,
} from '../../../factories/accounts.js';
import { buildTeam, buildToken } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Forgotten and changed passwords, and what people change about themselves.

const NEW = 'battery staple correct';
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOCKOUT_FAILURES: '1000' });
});
afterAll(() => app.close());

const post = (path: string, body: object, token?: string) => app.as(token).post(`/api/auth/${path}`, body);
const logIn = ({ email }: TestAccount, password = PASSWORD, more: object = {}) => post('login', { email, password, ...more });
const forgot = ({ email }: { email: string }) => post('password/forgot', { email });
const reset = ({ email }: TestAccount, code: string, new_password: unknown = NEW) =>
  post('password/reset', { email, code, new_password });
const me = (token: string) => app.as(token).get('/api/auth/me');

describe('forgotten', () => {
  it('returns the same 202 for any address, and mails a code only to an account', async () => {
    const [eve, suspended] = [await buildAccount(app), await buildAccount(app, { status: 'suspended' })];
    const nobody = { email: 'nobody@test.example' };
    const answers = [await forgot(eve), await forgot(nobody), await forgot(suspended), await forgot({ email: 'no address \0' })];
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    expect(await mailsTo(app, eve)).toMatchObject([{ subject: 'Your password reset code' }]);
    expect(await app.services.db('mails').whereNot('recipient', 'like', '%@%')).toEqual([]);
    for (const other of [nobody, suspended])
      expect(await mailsTo(app, other)).toMatchObject([
        { subject: 'No account with this address', text: expect.not.stringMatching(/\d{6}/) },
      ]);
  });

  it('a reset sets the new password, ends every session and lock, and trusts no device; tokens go on', async () => {
    const dana = await buildAccount(app, { login_otp_exempt: false });
    await logIn(dana);
    const step = { email: dana.email, password: PASSWORD, code: await mailedCode(app, dana), trust_device: true };
    const { token, device_token } = (await post('login-otp/verify', step)).body;
    const pat = await buildToken(app, { ...dana, token: '' }, ['tasks:read']);
    await forgot(dana);
    const { status, body } = await reset(dana, await mailedCode(app, dana));
    expect([status, body]).toEqual([200, { success: true }]);
    expect([(await me(token)).status, (await me(pat)).status]).toEqual([401, 200]);
    expect((await logIn(dana, PASSWORD)).status).toBe(401);
    expect((await logIn(dana, NEW, { device_token })).body).toMatchObject({ requires_login_otp: true });
    expect((await mailsTo(app, dana)).map(({ subject }) => subject)).toContain('Your password was changed');
    expect(await app.services.db('audit_entries').where({ entity_id: dana.user_id, action: 'password_reset' })).toMatchObject([
      { severity: 'HIGH', outcome: 'success' },
    ]);
  });

  it('is mailed ten times an hour and no more', async () => {
    const eve = await buildAccount(app);
    for (let i = 0; i < 12; i += 1) expect((await forgot(eve)).status).toBe(202);
    expect(await mailsTo(app, eve)).toHaveLength(10);
    expect((await reset(eve, await mailedCode(app, eve))).status).toBe(200);
  });

  it('two factors stay on', async () => {
    const eve = await buildTwoFactorAccount(app);
    await forgot(eve);
    expect((await reset(eve, await mailedCode(app, eve))).status).toBe(200);
    expect((await logIn(eve, NEW)).body).toEqual({ requires_2fa: true, requires_login_otp: false, email: eve.email });
  });

  it('gives an account without a password its first one', async () => {
    const eve = await buildAccount(app, { password_hash: null });
    const pat = await buildToken(app, { ...eve, token: '' }, ['tasks:read']);
    expect((await me(pat)).body.has_password).toBe(false);
    await forgot(eve);
    await reset(eve, await mailedCode(app, eve));
    expect((await me(pat)).body.has_password).toBe(true);
    expect((await logIn(eve, NEW)).status).toBe(200);
  });

  it('401 in one text: wrong, used, suspended, unknown; of many at once one wins', async () => {
    const [eve, suspended] = [await buildAccount(app), await buildAccount(app)];
    await forgot(eve);
    await forgot(suspended);
    await app.services.db('users').where({ user_id: suspended.user_id }).update({ status: 'suspended' });
    const code = await mailedCode(app, eve);
    const wrong = [
      await reset(eve, otherCode(code)),
      await reset(suspended, await mailedCode(app, suspended)),
      await reset({ email: 'nobody@test.example', user_id: '' }, code),
    ];
    for (const { status, body } of wrong) expect([status, body.message]).toEqual([401, 'Invalid or expired code']);
    const answers = await Promise.all(Array.from({ length: 4 }, () => reset(eve, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await reset(eve, code)).status).toBe(401);
  });

  it.each([
    ['11 characters', 'x'.repeat(11), 422],
    ['129 characters', 'x'.repeat(129), 422],
    ['12 emoji', '🔑'.repeat(12), 200],
    ['128 emoji', '🔑'.repeat(128), 200],
    ['an array', [NEW], 422],
    ['a NUL', `${NEW}\0`, 422],
    ['half a character', `${NEW}\ud800`, 422],
  ])('a new password of %s', async (_what, wish, status) => {
    const eve = await buildAccount(app);
    await forgot(eve);
    expect((await reset(eve, await mailedCode(app, eve), wish)).status).toBe(status);
    if (status === 200) expect((await logIn(eve, wish as string)).status).toBe(200);
  });
});

describe('changed', () => {
  it('this session goes on, the others end', async () => {
    const eve = await buildAccount(app);
    const [here, there] = [(await logIn(eve)).body.token, (await logIn(eve)).body.token];
    expect((await post('password/change', { current_password: 'wrong', new_password: NEW }, here)).status).toBe(403);
    const { status, body } = await post('password/change', { current_password: PASSWORD, new_password: NEW }, here);
    expect([status, body]).toEqual([200, { success: true }]);
    expect([(await me(here)).status, (await me(there)).status]).toEqual([200, 401]);
    expect([(await logIn(eve)).status, (await logIn(eve, NEW)).status]).toEqual([401, 200]);
  });

  it('trusts no device any more, the one of this session neither, and the audit entry counts them', async () => {
    const dana = await buildAccount(app, { login_otp_exempt: false });
    const trust = async () => {
      await logIn(dana);
      const step = { email: dana.email, password: PASSWORD, code: await mailedCode(app, dana), trust_device: true };
      return (await post('login-otp/verify', step)).body as { token: string; device_token: string };
    };
    const [thief, own] = [await trust(), await trust()];
    const changed = await post('password/change', { current_password: PASSWORD, new_password: NEW }, own.token);
    expect([changed.status, (await me(own.token)).status, (await me(thief.token)).status]).toEqual([200, 200, 401]);
    for (const { device_token } of [thief, own]) {
      expect((await logIn(dana, NEW, { device_token })).body).toMatchObject({ requires_login_otp: true });
    }
    const [entry] = await app.services.db('audit_entries').where({ entity_id: dana.user_id, action: 'password_change' });
    expect(JSON.parse(entry.details)).toEqual({ revoked_devices: 2 });
  });

  it('however the keyboard composes it', async () => {
    const eve = await buildAccount(app);
    const { token } = (await logIn(eve)).body;
    await post('password/change', { current_password: PASSWORD, new_password: 'caf\u00e9 caf\u00e9 caf\u00e9' }, token);
    expect((await logIn(eve, 'cafe\u0301 cafe\u0301 cafe\u0301')).status).toBe(200);
  });

  it('403 to personal access tokens', async () => {
    const eve = await buildAccount(app);
    const pat = await buildToken(app, { ...eve, token: '' }, ['admin:*']);
    expect((await post('password/change', { current_password: PASSWORD, new_password: NEW }, pat)).status).toBe(403);
  });
});

describe('while the old password is being compared', () => {
  const db = () => app.services.db;
  const prove = async (account: TestAccount, more: object = {}) =>
    (await checkPassword(buildContext(app), { email: account.email, password: PASSWORD, ...more })).account;
  const open = (account: Account) => inTransaction(buildContext(app), (ctx) => openSession(ctx, account, { trust: true }));
  const change: [string, (account: TestAccount) => Promise<unknown>][] = [
    [
      'the owner resets it',
      async (eve) => {
        await forgot(eve);
        expect((await reset(eve, await mailedCode(app, eve))).status).toBe(200);
      },
    ],
    ['the person is suspended', ({ user_id }) => db()('users').where({ user_id }).update({ status: 'suspended' })],
    [
      'a second factor is turned on',
      ({ user_id }) => db()('users').where({ user_id }).update({ two_factor_enabled_at: new Date() }),
    ],
  ];

  it.each(change)('%s: no session is opened by it, and no device trusted', async (_what, meanwhile) => {
    const eve = await buildAccount(app);
    const proved = await prove(eve);
    await meanwhile(eve);
    await expect(open(proved)).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED', message: 'Invalid credentials' });
    for (const table of ['sessions', 'trusted_devices']) expect(await db()(table).where({ user_id: eve.user_id })).toEqual([]);
  });

  it('the device that spared the code is revoked: no session either', async () => {
    const dana = await buildAccount(app, { login_otp_exempt: false });
    await logIn(dana);
    const step = { email: dana.email, password: PASSWORD, code: await mailedCode(app, dana), trust_device: true };
    const { device_token } = (await post('login-otp/verify', step)).body;
    const proved = await prove(dana, { device_token });
    await db()('trusted_devices').where({ user_id: dana.user_id }).delete();
    await expect(open(proved)).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED' });
  });

  it('a reset by the owner wins over a pending change by someone who knew the old password', async () => {
    const eve = await buildAccount(app);
    const proved = await prove(eve);
    await forgot(eve);
    await reset(eve, await mailedCode(app, eve));
    const wish = { passwordHash: 'thief', action: 'password_change', keep: null, proved: proved.password_hash } as const;
    expect(await inTransaction(buildContext(app), (ctx) => setPassword(ctx, proved, wish))).toBe(false);
    expect((await logIn(eve, NEW)).status).toBe(200);
  });
});

it('a new password also ends what its owner does in the names of others', async () => {
  const root = await buildAccount(app, { role: 'admin' });
  const eve = await buildAccount(app);
  const { token } = (await logIn(root)).body;
  const reason = 'Ticket 4711: cannot see it';
  const acting = (await app.as(token).post('/api/admin/impersonate', { user_id: eve.user_id, reason })).body.token;
  expect((await me(acting)).status).toBe(200);
  await forgot(root);
  await reset(root, await mailedCode(app, root));
  expect((await me(acting)).status).toBe(401);
});

describe('PATCH /api/auth/me', () => {
  const patch = (token: string, body: object) => app.as(token).patch('/api/auth/me', body);

  it('changes profile and preferences one by one, and nothing else', async () => {
    const eve = await buildAccount(app);
    const { token } = (await logIn(eve)).body;
    const first = await patch(token, { display_name: ' Eve ', preferences: { timezone: 'europe/berlin' } });
    expect(first.body).toMatchObject({ display_name: 'Eve', preferences: { timezone: 'Europe/Berlin', week_start: 'monday' } });
    const wish = { preferences: { week_start: 'sunday' }, role: 'admin', email: 'root@test.example', user_id: 'x', status: 'x' };
    const { body } = await patch(token, wish);
    expect(body).toMatchObject({
      email: eve.email,
      role: 'user',
      status: 'active',
      user_id: eve.user_id,
      preferences: { timezone: 'Europe/Berlin', week_start: 'sunday', theme: 'auto', default_team_id: null },
    });
    expect((await me(token)).body).toEqual(body);
    expect((await patch(token, {})).body).toEqual(body);
  });

  it('409 a username that is taken', async () => {
    const [eve, other] = [await buildAccount(app), await buildAccount(app)];
    const { token } = (await logIn(eve)).body;
    const taken = (await me((await logIn(other)).body.token)).body.username;
    expect((await patch(token, { username: taken })).status).toBe(409);
    expect((await patch(token, { username: `${taken}x` })).body.username).toBe(`${taken}x`);
  });

  it.each([
    [{ username: 'with space' }, 422],
    [{ username: null }, 422],
    [{ name: '' }, 422],
    [{ name: ['Eve'] }, 422],
    [{ display_name: 'x'.repeat(101) }, 422],
    [{ avatar: 'javascript:alert(1)' }, 422],
    [{ avatar: 'http://example.test/a.png' }, 422],
    [{ avatar: 'https://example.test/a.png' }, 200],
    [{ preferences: { timezone: 'Mars/Base' } }, 422],
    [{ preferences: { timezone: 'JST' } }, 422],
    [{ preferences: { timezone: '+02:00' } }, 422],
    [{ preferences: { locale: 'not a locale' } }, 422],
    [{ preferences: { week_start: 'friday' } }, 422],
    [{ preferences: { default_team_id: 'garbage' } }, 404],
    [{ preferences: { default_team_id: null } }, 200],
  ])('%j', async (wish, status) => {
    const { token } = (await logIn(await buildAccount(app))).body;
    expect((await patch(token, wish)).status).toBe(status);
  });

  it('403 for a default team of other people', async () => {
    const { team_id } = await buildTeam(app);
    const { token } = (await logIn(await buildAccount(app))).body;
    expect((await patch(token, { preferences: { default_team_id: team_id } })).status).toBe(403);
  });
});
