import { v7 as uuidv7 } from 'uuid';
import { buildAccount, mailedCode, mailsTo, otherCode, PASSWORD, type TestAccount } from '../../../factories/accounts.js';
import { startApp, type TestApp } from '../../../support/app.js';

// The mailed code of an untrusted device, and trusted devices.

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOCKOUT_FAILURES: '1000' });
});
afterAll(() => app.close());

const buildCautious = () => buildAccount(app, { login_otp_exempt: false });
const post = (path: string, body: object) => app.as().post(`/api/auth/${path}`, body);
const logIn = ({ email }: TestAccount, more: object = {}) => post('login', { email, password: PASSWORD, ...more });
const verify = ({ email }: TestAccount, code: string, more: object = {}) =>
  post('login-otp/verify', { email, password: PASSWORD, code, ...more });
const findSessions = ({ user_id }: TestAccount) => app.services.db('sessions').where({ user_id });
const codeRow = ({ email }: TestAccount) => app.services.db('one_time_codes').where({ purpose: 'login', address: email }).first();

const REFUSED = {
  error_code: 'AUTHENTICATION_REQUIRED',
  message: 'Invalid credentials',
  detail: 'The credential is missing, wrong, expired or revoked.',
};

describe('the challenge', () => {
  it('has exactly these keys, mails a code, and opens nothing', async () => {
    const dana = await buildCautious();
    const { status, body, headers } = await logIn(dana);
    expect([status, body]).toEqual([200, { requires_2fa: false, requires_login_otp: true, email: dana.email }]);
    expect(headers.get('set-cookie')).toBeNull();
    expect(await findSessions(dana)).toEqual([]);
    expect(await mailsTo(app, dana)).toMatchObject([{ subject: 'Your sign-in code', text: expect.stringMatching(/\d{6}/) }]);
  });

  it('is answered with password and code: a token that works, and no device token unless asked for', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const { status, body } = await verify(dana, await mailedCode(app, dana));
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['requires_2fa', 'requires_login_otp', 'token', 'user']);
    expect((await app.as(body.token).get('/api/auth/me')).body.user_id).toBe(dana.user_id);
  });

  it('401 says one thing to a wrong code, a wrong password, no code, and an account that needs none', async () => {
    const [dana, other, exempt] = [await buildCautious(), await buildCautious(), await buildAccount(app)];
    await logIn(dana);
    const code = await mailedCode(app, dana);
    const answers = [
      await verify(dana, otherCode(code)),
      await post('login-otp/verify', { email: dana.email, password: 'wrong', code }),
      await verify(other, code),
      await verify(exempt, code),
      await post('login-otp/verify', { email: 'nobody@test.example', password: PASSWORD, code }),
    ];
    for (const { status, body } of answers) expect([status, body]).toMatchObject([401, REFUSED]);
    expect((await verify(dana, ` ${code.slice(0, 3)} ${code.slice(3)} `)).status).toBe(200);
  });

  it('422 refuses arrays where scalars belong', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const code = await mailedCode(app, dana);
    for (const wrong of [
      { code: [code] },
      { email: [dana.email] },
      { password: [PASSWORD] },
      { trust_device: ['true'] },
      { code: 5 },
    ]) {
      const body = { email: dana.email, password: PASSWORD, code, ...wrong };
      expect([wrong, (await post('login-otp/verify', body)).status]).toEqual([wrong, 422]);
    }
  });

  it('does not sign in a locked or two-factor account', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const code = await mailedCode(app, dana);
    await app.services.db('users').where({ user_id: dana.user_id }).update({ two_factor_enabled_at: new Date() });
    expect((await verify(dana, code)).status).toBe(401);
    await app.services.db('users').where({ user_id: dana.user_id }).update({ two_factor_enabled_at: null, status: 'suspended' });
    expect((await verify(dana, code)).status).toBe(401);
    expect(await findSessions(dana)).toEqual([]);
  });

  it('LOGIN_OTP=off asks for none', async () => {
    const off = await startApp({ LOGIN_OTP: 'off' });
    try {
      const { email } = await buildAccount(off, { login_otp_exempt: false });
      expect((await off.as().post('/api/auth/login', { email, password: PASSWORD })).body.token).toEqual(expect.any(String));
    } finally {
      await off.close();
    }
  });
});

describe('the code', () => {
  it('works once, also when it comes four times at once', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const code = await mailedCode(app, dana);
    const answers = await Promise.all(Array.from({ length: 4 }, () => verify(dana, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await findSessions(dana)).toHaveLength(1);
    expect((await verify(dana, code)).status).toBe(401);
  });

  it('200 wrong ones at once: five are compared, and then the right one is refused too', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const code = await mailedCode(app, dana);
    const answers = await Promise.all(Array.from({ length: 200 }, () => verify(dana, otherCode(code))));
    // Callers that find the hash queue full get 503.
    expect(answers.filter(({ status }) => status !== 401 && status !== 503)).toEqual([]);
    expect((await codeRow(dana)).attempts).toBe(5);
    expect((await verify(dana, code)).status).toBe(401);
    expect((await codeRow(dana)).attempts).toBe(5);
  }, 120_000);

  it('runs out after ten minutes, by the database’s clock', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const { expires_at } = await codeRow(dana);
    expect(Math.abs(expires_at.getTime() - Date.now() - 600_000)).toBeLessThan(20_000);
    const code = await mailedCode(app, dana);
    await app.services
      .db('one_time_codes')
      .where({ address: dana.email })
      .update({ expires_at: new Date(Date.now() - 1_000) });
    expect((await verify(dana, code)).status).toBe(401);
  });

  it('a new one voids the old', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    const first = await mailedCode(app, dana);
    const again = await post('login-otp/resend', { email: dana.email, password: PASSWORD });
    expect([again.status, again.body]).toEqual([202, { message: 'If a sign-in is pending, a code was emailed' }]);
    const second = await mailedCode(app, dana);
    if (first !== second) expect((await verify(dana, first)).status).toBe(401);
    expect((await verify(dana, second)).status).toBe(200);
  });

  it('is stored as an HMAC that says nothing, and is nobody else’s nor for anything else', async () => {
    const [dana, other] = [await buildCautious(), await buildCautious()];
    await logIn(dana);
    await logIn(other);
    const code = await mailedCode(app, dana);
    const { code_hash } = await codeRow(dana);
    expect(code_hash).toHaveLength(32);
    if (code !== (await mailedCode(app, other))) expect((await verify(other, code)).status).toBe(401);
    const reset = { email: dana.email, code, new_password: 'battery staple correct' };
    expect((await post('password/reset', reset)).status).toBe(401);
    expect((await app.as().post('/app/signup/verify', { email: dana.email, code, name: 'X', password: PASSWORD })).status).toBe(
      401,
    );
  });

  it('resend needs the password, and mails nothing to who needs no code', async () => {
    const [dana, exempt] = [await buildCautious(), await buildAccount(app)];
    expect((await post('login-otp/resend', { email: dana.email, password: 'wrong' })).status).toBe(401);
    expect((await post('login-otp/resend', { email: exempt.email, password: PASSWORD })).status).toBe(202);
    expect([...(await mailsTo(app, dana)), ...(await mailsTo(app, exempt))]).toEqual([]);
  });

  it('is mailed sixty times an hour and no more; the last one stays good', async () => {
    const dana = await buildCautious();
    await logIn(dana);
    await app.services.db('one_time_codes').where({ address: dana.email }).update({ issued_count: 58 });
    for (let i = 0; i < 4; i += 1) expect((await logIn(dana)).status).toBe(200);
    expect(await mailsTo(app, dana)).toHaveLength(3);
    expect((await verify(dana, await mailedCode(app, dana))).status).toBe(200);
  });
});

describe('a trusted device', () => {
  const trust = async (account: TestAccount): Promise<string> => {
    await logIn(account);
    return (await verify(account, await mailedCode(app, account), { trust_device: true })).body.device_token;
  };

  it('signs in without the code for thirty days; only the SHA-256 of its token is kept', async () => {
    const dana = await buildCautious();
    const device_token = await trust(dana);
    expect(device_token).toMatch(/^[\w-]{43}$/);
    expect((await logIn(dana, { device_token })).body.token).toEqual(expect.any(String));
    const rows = await app.services.db('trusted_devices').where({ user_id: dana.user_id });
    expect(JSON.stringify(rows)).not.toContain(device_token);
    expect(Math.abs(rows[0].expires_at.getTime() - Date.now() - 30 * 86_400_000)).toBeLessThan(60_000);
    await app.services
      .db('trusted_devices')
      .where({ user_id: dana.user_id })
      .update({ expires_at: new Date(0) });
    expect((await logIn(dana, { device_token })).body).toMatchObject({ requires_login_otp: true });
  });

  it('is trusted for its owner alone, and never instead of the password', async () => {
    const [dana, other] = [await buildCautious(), await buildCautious()];
    const device_token = await trust(dana);
    expect((await logIn(other, { device_token })).body).toEqual({
      requires_2fa: false,
      requires_login_otp: true,
      email: other.email,
    });
    expect((await logIn(dana, { device_token, password: 'wrong' })).status).toBe(401);
    expect((await logIn(dana, { device_token: 'x'.repeat(43) })).body).toMatchObject({ requires_login_otp: true });
  });

  it('is listed to its owner, and not trusted any more once revoked', async () => {
    const [dana, other] = [await buildCautious(), await buildCautious()];
    const device_token = await trust(dana);
    const [own, plain] = [await logIn(dana, { device_token }), await logIn(other)];
    expect(plain.body.token).toBeUndefined();
    const mine = app.as(own.body.token);
    const { body } = await mine.get('/api/auth/devices');
    expect(body).toMatchObject([{ device_id: expect.any(String), current: true, user_agent: expect.any(String) }]);
    expect(Object.keys(body[0]).toSorted()).toEqual([
      'created_at',
      'current',
      'device_id',
      'expires_at',
      'ip_address',
      'last_seen_at',
      'user_agent',
    ]);
    expect((await mine.delete(`/api/auth/devices/${uuidv7()}`)).status).toBe(404);
    const gone = await mine.delete(`/api/auth/devices/${body[0].device_id}`);
    expect(gone.body).toEqual({ success: true, device_id: body[0].device_id });
    expect((await mine.get('/api/auth/devices')).body).toEqual([]);
    expect((await logIn(dana, { device_token })).body).toMatchObject({ requires_login_otp: true });
  });
});
