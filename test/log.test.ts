import { createHmac } from 'node:crypto';
import { Writable } from 'node:stream';
import { hash } from '@node-rs/argon2';
import { createLogger, logScope } from '../api/platform/telemetry/log.js';
import { buildPerson, buildProject, buildTeam, buildToken, type Person, type TestTeam } from './factories/people.js';
import { startApp, type TestApp } from './support/app.js';

// No secret that users send appears in the log, even at debug level and on errors.

const PASSWORD = 'canary-password-7f3a';
const WRONG_PASSWORD = 'canary-wrong-91bc';
const FORGE_SECRET = 'canary-forge-secret-2d4e';

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
/** Libraries that write past the logger. */
const spoken: string[] = [];
const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const;
const ours = { ...console };

let app: TestApp;
let person: Person;
let team: TestTeam;
beforeAll(async () => {
  for (const method of METHODS) console[method] = (...args: unknown[]) => void spoken.push(args.map(String).join(' '));
  app = await startApp({ FORGE_WEBHOOK_SECRET: FORGE_SECRET, LOG_LEVEL: 'debug' });
  Object.assign(app.services, { log: createLogger(app.services.config, 'api', sink) });
  person = await buildPerson(app);
  team = await buildTeam(app);
  await app.services
    .db('users')
    .where({ user_id: person.user_id })
    .update({ password_hash: await hash(PASSWORD, { memoryCost: 1024, timeCost: 1, parallelism: 1 }), login_otp_exempt: true });
});
afterAll(async () => {
  Object.assign(console, ours);
  await app.close();
});
beforeEach(() => {
  lines.length = 0;
  spoken.length = 0;
});

const SECRETS = /authorization|bearer|svc_pat_|canary-|sha256=|\$argon2|eyJ[\w-]{10,}\.[\w-]+/i;
/** Every answer has its line, and no line has a secret. */
function expectQuiet(answers: { headers: Headers }[]): void {
  const text = lines.join('');
  for (const { headers } of answers) expect(text).toContain(headers.get('x-correlation-id'));
  for (const line of [...lines, ...spoken]) expect(line).not.toMatch(SECRETS);
}

const logIn = (password: string) => app.as().post('/api/auth/login', { email: person.email, password });

it('signing in, rightly and wrongly', async () => {
  const [right, wrong, nobody] = [
    await logIn(PASSWORD),
    await logIn(WRONG_PASSWORD),
    await app
      .as()
      .post('/api/auth/login', { email: 'canary-mail@test.example', password: WRONG_PASSWORD, device_token: 'canary-device' }),
  ];
  expect([right.status, wrong.status, nobody.status]).toEqual([200, 401, 401]);
  const used = await app.as(right.body.token).get('/api/auth/me');
  expect(used.status).toBe(200);
  expectQuiet([right, wrong, nobody, used]);
});

it('a body that fails validation or is no JSON', async () => {
  const odd = await app.as().post('/api/auth/login', { email: 5, password: [PASSWORD] });
  const broken = await app.as().post('/api/auth/login', undefined, { raw: `{"password":"${PASSWORD}"` });
  expect([odd.status, broken.status]).toEqual([422, 422]);
  expectQuiet([odd, broken]);
});

it('tokens: good, revoked, foreign, in the wrong place', async () => {
  const good = await buildToken(app, person, ['admin:*']);
  const revoked = await buildToken(app, person, ['admin:*'], { revoked_at: new Date() });
  const answers = [
    await app.as(good).get('/api/auth/me'),
    await app.as(revoked).get('/api/auth/me'),
    await app.as(`svc_pat_${'canary-'.repeat(6)}x`).get('/api/auth/me'),
    await app.as(`${person.token}x`).get('/api/auth/me'),
    await app.as().get(`/api/tasks?token=${good}&access_token=${person.token}`),
    await app.as().get('/api/auth/me', undefined, { headers: { cookie: `session=${person.token}`, 'x-api-key': good } }),
    await app.as(good).get(`/api/tasks/${good}`),
    await app.as(good).get(`/api/nothing/${good}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 401, 404, 404]);
  expectQuiet(answers);
});

it('a token while it is made, used and revoked', async () => {
  const by = app.as(person);
  const made = await by.post('/api/auth/tokens', { name: 'canary-name', scopes: ['tasks:read'] });
  const used = await app.as(made.body.token).get('/api/auth/me');
  const refused = await app.as(made.body.token).get('/api/auth/tokens');
  const revoked = await by.delete(`/api/auth/tokens/${made.body.token_id}`);
  expect([made, used, refused, revoked].map(({ status }) => status)).toEqual([201, 200, 403, 200]);
  expectQuiet([made, used, refused, revoked]);
});

it('the token of an impersonating administrator', async () => {
  const admin = await buildPerson(app, { role: 'admin' });
  const started = await app.as(admin).post('/api/admin/impersonate', { user_id: person.user_id, reason: 'canary-reason' });
  const acting = app.as(started.body.token as string);
  const answers = [started, await acting.get('/api/auth/me'), await acting.post('/api/admin/impersonate/stop')];
  answers.push(await acting.get('/api/auth/me'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 401]);
  expectQuiet(answers);
});

it('deliveries of the forge, signed well and badly', async () => {
  const raw = JSON.stringify({ ref: 'refs/heads/main', commits: [{ message: 'canary-commit' }] });
  const sign = (key: string) => `sha256=${createHmac('sha256', key).update(raw).digest('hex')}`;
  const send = (signature: string) =>
    app
      .as()
      .post('/api/forge/webhooks', undefined, { raw, headers: { 'x-forge-event': 'push', 'x-hub-signature-256': signature } });
  const answers = [await send(sign(FORGE_SECRET)), await send(sign('canary-other')), await send('canary-no-signature')];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
  expectQuiet(answers);
});

it('what people write', async () => {
  const { project_id } = await buildProject(app, team);
  const answer = await app
    .as(team.member)
    .post('/api/tasks', { title: 'canary-title', description: 'canary-description', project_id });
  expect(answer.status).toBe(201);
  expectQuiet([answer]);
});

it('a database that fails in the middle of it', async () => {
  const { db } = app.services;
  await db.raw('alter table sessions rename column ip_address to ip_address_gone');
  const signIn = await logIn(PASSWORD);
  await db.raw('alter table sessions rename column ip_address_gone to ip_address');
  await db.raw('alter table personal_access_tokens rename to tokens_gone');
  const token = await app.as(`svc_pat_${'x'.repeat(43)}`).get('/api/auth/me');
  await db.raw('alter table tokens_gone rename to personal_access_tokens');
  expect([signIn.status, token.status]).toEqual([500, 500]);
  expect(lines.filter((line) => line.includes('request failed'))).toHaveLength(2);
  expect(lines.join('')).toMatch(/"code":"42703".*"code":"42P01"/s);
  expectQuiet([signIn, token]);
});

it('the logger itself takes secrets out by their key, and leaves the codes of errors', () => {
  const { log } = app.services;
  const secrets = {
    authorization: 'Bearer canary-1',
    cookie: 'canary-2',
    password: PASSWORD,
    token: 'canary-3',
    secret: 'canary-4',
    code: '123456',
    device_token: 'canary-5',
    api_key: 'canary-6',
    requestBodyValues: { messages: 'canary-7' },
    responseBody: 'canary-8',
  };
  log.debug(secrets, 'at the top');
  log.debug({ body: secrets, headers: secrets }, 'one level down');
  log.error({ err: Object.assign(new Error('broken'), { code: '42P01', password: PASSWORD }) }, 'in an error');
  expect(lines).toHaveLength(3);
  const text = lines.join('');
  expect(text).not.toMatch(/canary-|123456/);
  expect(text.match(/\[redacted\]/g)?.length).toBe(10 * 3 + 1);
  expect(text).toContain('"code":"42P01"');
});

it('a line keeps its own fields to itself', () => {
  const { log } = app.services;
  logScope.run({ correlation_id: 'one' }, () => {
    log.warn({ err: new Error('broken'), path: '/x' }, 'first');
    log.info('second');
  });
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({ correlation_id: 'one', path: '/x' });
  expect(Object.keys(second ?? {}).toSorted()).toEqual(['correlation_id', 'level', 'msg', 'process', 'time']);
});
