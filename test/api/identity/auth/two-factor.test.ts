import { readFileSync } from 'node:fs';
import {
  Authenticator,
  buildAccount,
  buildTwoFactorAccount,
  mailsTo,
  otherCode,
  PASSWORD,
  type TestAccount,
} from '../../../factories/accounts.js';
import { buildToken } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Signing in with two factors.

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOCKOUT_FAILURES: '1000' });
});
afterAll(() => app.close());

const post = (path: string, body: object, token?: string) => app.as(token).post(`/api/auth/${path}`, body);
const logIn = ({ email }: TestAccount) => post('login', { email, password: PASSWORD });
const verify = ({ email }: TestAccount, code: string, more: object = {}) =>
  post('2fa/verify', { email, password: PASSWORD, code, ...more });
const findSessions = ({ user_id }: TestAccount) => app.services.db('sessions').where({ user_id });
const signIn = async (account: TestAccount): Promise<string> => (await logIn(account)).body.token;
const REFUSED = {
  error_code: 'AUTHENTICATION_REQUIRED',
  message: 'Invalid credentials',
  detail: 'The credential is missing, wrong, expired or revoked.',
};

describe('enrolment', () => {
  it('goes from a secret by a code to recovery codes, and the next login asks for a code', async () => {
    const eve = await buildAccount(app);
    const token = await signIn(eve);
    expect((await app.as(token).get('/api/auth/2fa')).body).toEqual({ enabled: false, recovery_codes_left: 0 });
    const { body: enrolment } = await post('2fa/enroll', { password: PASSWORD }, token);
    expect(enrolment.otpauth_url).toContain(`secret=${enrolment.secret}`);
    expect(enrolment.otpauth_url).toMatch(/^otpauth:\/\/totp\/Assent:.*issuer=Assent.*algorithm=SHA1&digits=6&period=30/);
    expect((await logIn(eve)).body.token).toEqual(expect.any(String));
    const authenticator = new Authenticator(enrolment.secret);
    expect((await post('2fa/activate', { code: otherCode(authenticator.code()) }, token)).status).toBe(400);
    const { status, body } = await post('2fa/activate', { code: (await authenticator.early()).code(-1) }, token);
    expect([status, body.enabled, new Set(body.recovery_codes).size]).toEqual([200, true, 10]);
    for (const code of body.recovery_codes) expect(code).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/);
    expect((await app.as(token).get('/api/auth/2fa')).body).toEqual({ enabled: true, recovery_codes_left: 10 });
    expect((await app.as(token).get('/api/auth/me')).body.two_factor_enabled).toBe(true);
    expect((await logIn(eve)).body).toEqual({ requires_2fa: true, requires_login_otp: false, email: eve.email });
    expect((await verify(eve, authenticator.code())).status).toBe(200);
    expect((await mailsTo(app, eve))[0]?.subject).toBe('Two-factor authentication enabled');
  });

  it('keeps the secret encrypted, and only hashes of the recovery codes', async () => {
    const eve = await buildTwoFactorAccount(app);
    const row = await app.services.db('users').where({ user_id: eve.user_id }).first();
    expect(row.two_factor_secret.toString('latin1')).not.toContain(eve.authenticator.secret);
    const codes = await app.services.db('recovery_codes').where({ user_id: eve.user_id });
    expect(codes).toHaveLength(10);
    for (const code of eve.recovery) expect(JSON.stringify(codes)).not.toContain(Buffer.from(code).toString('hex'));
    // Moved to another account the secret does not open.
    const other = await buildAccount(app, { two_factor_secret: row.two_factor_secret, two_factor_enabled_at: new Date() });
    expect((await verify(other, eve.authenticator.code())).status).toBe(500);
  });

  it('needs the password, and is refused while it is on', async () => {
    const eve = await buildAccount(app);
    const token = await signIn(eve);
    expect((await post('2fa/enroll', { password: 'wrong' }, token)).status).toBe(403);
    expect((await post('2fa/activate', { code: '000000' }, token)).status).toBe(409);
    const { body } = await post('2fa/enroll', { password: PASSWORD }, token);
    await post('2fa/activate', { code: new Authenticator(body.secret).code() }, token);
    expect((await post('2fa/enroll', { password: PASSWORD }, token)).status).toBe(409);
    expect((await post('2fa/activate', { code: new Authenticator(body.secret).code(1) }, token)).status).toBe(409);
  });

  it('a personal access token is kept out, and goes on working once it is on', async () => {
    const eve = await buildTwoFactorAccount(app);
    const pat = await buildToken(app, { ...eve, token: '' }, ['admin:*']);
    expect((await app.as(pat).get('/api/auth/me')).status).toBe(200);
    expect((await app.as(pat).get('/api/auth/2fa')).status).toBe(403);
    for (const path of ['enroll', 'activate', 'disable', 'recovery-codes'])
      expect((await post(`2fa/${path}`, { password: PASSWORD, code: '000000' }, pat)).status).toBe(403);
  });
});

describe('the challenge', () => {
  it('is answered with password and code; the device is trusted where asked for', async () => {
    const eve = await buildTwoFactorAccount(app, { login_otp_exempt: false });
    expect((await logIn(eve)).body).toEqual({ requires_2fa: true, requires_login_otp: false, email: eve.email });
    expect(await findSessions(eve)).toEqual([]);
    const { status, body } = await verify(eve, eve.authenticator.code(), { trust_device: true });
    expect([status, Object.keys(body).toSorted()]).toEqual([
      200,
      ['device_token', 'requires_2fa', 'requires_login_otp', 'token', 'user'],
    ]);
    // A trusted device spares the mailed code, never the second factor.
    const again = await post('login', { email: eve.email, password: PASSWORD, device_token: body.device_token });
    expect(again.body).toEqual({ requires_2fa: true, requires_login_otp: false, email: eve.email });
  });

  it('takes the codes one step around now, each once, and none before it afterwards', async () => {
    const eve = await buildTwoFactorAccount(app);
    const { code } = eve.authenticator;
    expect((await verify(eve, code(-3))).status).toBe(401);
    expect((await verify(eve, code(3))).status).toBe(401);
    const now = code();
    expect((await verify(eve, now)).status).toBe(200);
    expect((await verify(eve, now)).status).toBe(401);
    if (code(-1) !== now) expect((await verify(eve, code(-1))).status).toBe(401);
    expect((await verify(eve, code(1))).status).toBe(200);
  });

  it('opens one session for a code sent many times concurrently', async () => {
    const eve = await buildTwoFactorAccount(app);
    const code = eve.authenticator.code();
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(eve, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await findSessions(eve)).toHaveLength(1);
  });

  it('a recovery code works once, also when it comes many times at once, however it is typed', async () => {
    const eve = await buildTwoFactorAccount(app);
    const [first = '', second = ''] = eve.recovery;
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(eve, first)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await verify(eve, ` ${second.toUpperCase().replace('-', ' ')} `)).status).toBe(200);
    expect((await verify(eve, second)).status).toBe(401);
    const token = (await verify(eve, eve.authenticator.code())).body.token;
    expect((await app.as(token).get('/api/auth/2fa')).body).toEqual({ enabled: true, recovery_codes_left: 8 });
  });

  it('401 says one thing to a wrong code, a wrong password, another’s code, and an account without two factors', async () => {
    const [eve, other, plain] = [await buildTwoFactorAccount(app), await buildTwoFactorAccount(app), await buildAccount(app)];
    const answers = [
      await verify(eve, otherCode(eve.authenticator.code())),
      await post('2fa/verify', { email: eve.email, password: 'wrong', code: eve.authenticator.code() }),
      await verify(eve, other.recovery[0] as string),
      await verify(plain, eve.authenticator.code()),
      await verify(eve, ''),
      await verify(eve, '\0'),
    ];
    for (const { status, body } of answers) expect([status, body]).toMatchObject([401, REFUSED]);
    expect((await post('2fa/verify', { email: eve.email, password: PASSWORD, code: [eve.authenticator.code()] })).status).toBe(
      422,
    );
  });
});

describe('with both factors proved again', () => {
  it('recovery codes are replaced, and the old ones are void', async () => {
    const eve = await buildTwoFactorAccount(app);
    const { token } = (await verify(eve, eve.authenticator.code())).body;
    const wrong = { password: PASSWORD, code: otherCode(eve.authenticator.code(1)) };
    expect((await post('2fa/recovery-codes', wrong, token)).status).toBe(403);
    const { status, body } = await post('2fa/recovery-codes', { password: PASSWORD, code: eve.authenticator.code(1) }, token);
    expect([status, body.recovery_codes.length]).toEqual([200, 10]);
    expect((await verify(eve, eve.recovery[0] as string)).status).toBe(401);
    expect((await verify(eve, body.recovery_codes[0])).status).toBe(200);
  });

  it('it is turned off, and secret and codes are forgotten', async () => {
    const eve = await buildTwoFactorAccount(app);
    const { token } = (await verify(eve, eve.authenticator.code())).body;
    expect((await post('2fa/disable', { password: 'wrong', code: eve.authenticator.code(1) }, token)).status).toBe(403);
    expect((await post('2fa/disable', { password: PASSWORD, code: '000000' }, token)).status).toBe(403);
    const off = await post('2fa/disable', { password: PASSWORD, code: eve.recovery[3] as string }, token);
    expect([off.status, off.body]).toEqual([200, { enabled: false }]);
    expect(await app.services.db('users').where({ user_id: eve.user_id }).first()).toMatchObject({
      two_factor_secret: null,
      two_factor_enabled_at: null,
    });
    expect(await app.services.db('recovery_codes').where({ user_id: eve.user_id })).toEqual([]);
    expect((await logIn(eve)).body.token).toEqual(expect.any(String));
  });
});

it('the demo’s second factor is the published one', () => {
  const source = readFileSync(new URL('../../../../scripts/demo-data/seed-demo.ts', import.meta.url), 'utf8');
  expect(source).toContain("'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'");
});
