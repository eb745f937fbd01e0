import { Writable } from 'node:stream';
import { createLogger } from '../../../../api/platform/telemetry/log.js';
import { sendMails } from '../../../../api/platform/mail/send-mails.js';
import { smtpTransport } from '../../../../api/platform/mail/smtp.js';
import { Authenticator, buildAccount, buildContext, mailedCode, mailsTo } from '../../../factories/accounts.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { startMailServer } from '../../../support/mail-server.js';
import { unlock } from '../../../../api/identity/auth/unlock.js';

// No secret of the account flows appears in the log, even at debug level and on errors.

const PASSWORD = 'canary-password-7f3a';
const NEW_PASSWORD = 'canary-password-of-tomorrow';

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
/** Every secret that was seen so far. */
const secrets = new Set([PASSWORD, NEW_PASSWORD]);
const keep = (secret: string): string => {
  secrets.add(secret);
  return secret;
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOG_LEVEL: 'debug', LOCKOUT_FAILURES: '3' });
  Object.assign(app.services, { log: createLogger(app.services.config, 'api', sink) });
});
afterAll(() => app.close());

const post = async (path: string, body: object, token?: string) => {
  const answer = await app.as(token).post(path, body);
  for (const name of ['token', 'device_token', 'secret', 'otpauth_url']) if (answer.body?.[name]) keep(answer.body[name]);
  for (const code of answer.body?.recovery_codes ?? []) keep(code);
  return answer;
};
const readCode = async (to: { email: string }) => keep(await mailedCode(app, to));

/** A secret as a word of its own: six digits may well stand inside an id. */
const holds = (text: string, secret: string): boolean =>
  /^\d{6}$/.test(secret) ? new RegExp(`(?<![\\w.-])${secret}(?![\\w-])`).test(text) : text.includes(secret);
function expectQuiet(atLeast: number): void {
  const text = lines.join('');
  expect(lines.length).toBeGreaterThanOrEqual(atLeast);
  expect([...secrets].filter((secret) => holds(text, secret))).toEqual([]);
  expect(text).not.toMatch(/canary-|authorization|bearer|\$argon2|eyJ[\w-]{10,}\.[\w-]+|otpauth:/i);
}

const nia = { email: 'nia@test.example', name: 'Nia' };

it('signing up, signing in by every step, two factors, new passwords, sessions', async () => {
  await post('/app/signup/start', nia);
  await post('/app/signup/verify', { ...nia, code: '000000', password: PASSWORD });
  const { body: signedUp } = await post('/app/signup/verify', { ...nia, code: await readCode(nia), password: PASSWORD });
  const login = { email: nia.email, password: PASSWORD };
  await post('/api/auth/login', login);
  await post('/api/auth/login-otp/resend', login);
  const step = { ...login, code: await readCode(nia), trust_device: true };
  expect((await post('/api/auth/login-otp/verify', step)).status).toBe(200);
  const { body: enrolment } = await post('/api/auth/2fa/enroll', { password: PASSWORD }, signedUp.token);
  const authenticator = new Authenticator(enrolment.secret);
  const { body: active } = await post('/api/auth/2fa/activate', { code: keep(authenticator.code()) }, signedUp.token);
  expect(active.recovery_codes).toHaveLength(10);
  await post('/api/auth/2fa/verify', { ...login, code: keep(authenticator.code(1)) });
  await post('/api/auth/2fa/verify', { ...login, code: active.recovery_codes[0] });
  await post('/api/auth/refresh', {}, signedUp.token);
  await post('/api/auth/password/forgot', nia);
  await post('/api/auth/password/reset', { email: nia.email, code: await readCode(nia), new_password: NEW_PASSWORD });
  expect((await post('/api/auth/login', { email: nia.email, password: NEW_PASSWORD })).body).toMatchObject({
    requires_2fa: true,
  });
  expect(secrets.size).toBeGreaterThan(20);
  expectQuiet(14);
});

it('a lock and its link', async () => {
  const eve = await buildAccount(app);
  for (let i = 0; i < 3; i += 1) await post('/api/auth/login', { email: eve.email, password: 'canary-wrong' });
  const token = /token=([\w-]{43})/.exec((await mailsTo(app, eve))[0]?.text ?? '')?.[1];
  await unlock(buildContext(app), keep(token as string));
  expectQuiet(3);
});

it('bodies that are refused', async () => {
  for (const path of ['2fa/verify', 'login-otp/verify', 'password/reset', 'login'])
    expect(
      (await post(`/api/auth/${path}`, { email: 5, password: [PASSWORD], code: { a: PASSWORD }, new_password: 'canary' })).status,
    ).toBe(422);
  expectQuiet(4);
});

it('a database that fails in the middle of it', async () => {
  const dana = await buildAccount(app, { login_otp_exempt: false });
  const { db } = app.services;
  await db.raw('alter table mails rename to mails_gone');
  const login = await post('/api/auth/login', { email: dana.email, password: 'correct horse battery' });
  const forgot = await post('/api/auth/password/forgot', dana);
  await db.raw('alter table mails_gone rename to mails');
  await db.raw('alter table trusted_devices rename column user_agent to gone');
  await post('/app/signup/start', { email: 'new@test.example', name: 'New' });
  const code = await readCode({ email: 'new@test.example' });
  const verify = await post('/app/signup/verify', { email: 'new@test.example', name: 'New', code, password: PASSWORD });
  await db.raw('alter table trusted_devices rename column gone to user_agent');
  expect([login.status, forgot.status, verify.status]).toEqual([500, 500, 500]);
  // Nothing is half written: no account, and the code is still valid.
  expect(await db('users').where({ email: 'new@test.example' })).toEqual([]);
  expectQuiet(3);
});

it('a row that the database refuses: neither the statement’s values nor the row', async () => {
  const { db } = app.services;
  const ursa = { email: 'ursa@test.example', name: 'canary-name' };
  await post('/app/signup/start', ursa);
  const code = await readCode(ursa);
  await db.raw(`alter table users add constraint odd check (name <> 'canary-name')`);
  const verify = await post('/app/signup/verify', { ...ursa, code, password: PASSWORD });
  await db.raw('alter table users drop constraint odd');
  expect(verify.status).toBe(500);
  expectQuiet(1);
  const failure = lines.find((line) => line.includes('23514')) as string;
  expect(failure).toContain('violates check constraint');
});

it('sending the mails, and failing to', async () => {
  const server = await startMailServer();
  const smtp = smtpTransport({ ...app.services.config, MAIL_URL: server.url.replace('//', '//canary-user:canary-secret@') });
  server.behave({ code: 451, at: 'message' });
  await sendMails(app.services, smtp?.send as never);
  await app.services.db('mails').update({ next_attempt_at: new Date(0) });
  server.behave('take');
  await sendMails(app.services, smtp?.send as never);
  smtp?.close();
  await server.close();
  expect(lines.filter((line) => line.includes('"template"')).length).toBeGreaterThan(3);
  expectQuiet(4);
});
