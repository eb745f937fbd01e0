import { FIRST_ACCOUNT_LOCK } from '../../../../api/identity/auth/sign-up/verify-sign-up.js';
import { buildAccount, mailedCode, mailsTo, otherCode, PASSWORD } from '../../../factories/accounts.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

// Sign-up by a mailed code; of the web app, not of the API.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await buildAccount(app);
});
afterAll(() => app.close());

let count = 0;
const newcomer = () => {
  count += 1;
  return { email: `newcomer${count}@test.example`, name: 'Nia Novak' };
};
const start = (person: object) => app.as().post('/app/signup/start', person);
const verify = (person: object, code: unknown, more: object = {}) =>
  app.as().post('/app/signup/verify', { ...person, code, password: PASSWORD, ...more });

it('a code by mail, then an account, signed in on a device that is trusted', async () => {
  const nia = newcomer();
  const begun = await start(nia);
  expect([begun.status, begun.body]).toEqual([202, { message: 'An email was sent to this address' }]);
  expect(await app.services.db('users').where({ email: nia.email })).toEqual([]);
  const { status, body } = await verify(nia, await mailedCode(app, nia));
  expect(status).toBe(201);
  expect(Object.keys(body).toSorted()).toEqual(['device_token', 'requires_2fa', 'requires_login_otp', 'token', 'user']);
  expect(body.user).toMatchObject({
    ...nia,
    role: 'user',
    has_password: true,
    display_name: 'Nia Novak',
    status: 'active',
    teams: [],
  });
  expect(body.user.username).toBe(nia.email.split('@')[0]);
  expect((await app.as(body.token).get('/api/auth/me')).status).toBe(200);
  const { email } = nia;
  const again = await app.as().post('/api/auth/login', { email, password: PASSWORD, device_token: body.device_token });
  expect(again.body.token).toEqual(expect.any(String));
  expect((await app.as().post('/api/auth/login', { email, password: PASSWORD })).body).toMatchObject({
    requires_login_otp: true,
  });
});

it('an address with an account gets the same answer, and a mail without a code', async () => {
  const known = await buildAccount(app);
  const [strange, familiar] = [await start(newcomer()), await start({ email: ` ${known.email.toUpperCase()} `, name: 'X' })];
  expect([familiar.status, familiar.body]).toEqual([strange.status, strange.body]);
  const [mail] = await mailsTo(app, known);
  expect(mail).toMatchObject({ subject: 'You already have an account', text: expect.not.stringMatching(/\d{6}/) });
  expect((await verify({ ...known, name: 'X' }, '000000')).status).toBe(401);
});

it('401 a wrong, used or void code; five attempts, then the right one is refused too', async () => {
  const nia = newcomer();
  await start(nia);
  const first = await mailedCode(app, nia);
  await start(nia);
  const code = await mailedCode(app, nia);
  const wrong = await Promise.all(Array.from({ length: 5 }, () => verify(nia, otherCode(code))));
  expect(wrong.map(({ status, body }) => [status, body.message])).toEqual(Array(5).fill([401, 'Invalid or expired code']));
  expect((await verify(nia, code)).status).toBe(401);
  await start(nia);
  if (first !== code) expect((await verify(nia, first)).status).toBe(401);
  expect((await verify(nia, await mailedCode(app, nia))).status).toBe(201);
});

it('creates one account for a code sent four times concurrently', async () => {
  const nia = newcomer();
  await start(nia);
  const code = await mailedCode(app, nia);
  const answers = await Promise.all(Array.from({ length: 4 }, () => verify(nia, code)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
});

it('409 when the address got an account meanwhile', async () => {
  const nia = newcomer();
  await start(nia);
  await buildAccount(app, { email: nia.email });
  expect((await verify(nia, await mailedCode(app, nia))).status).toBe(409);
});

it.each([
  [{ email: 'no address' }],
  [{ email: ['a@test.example'] }],
  [{ email: 'a@b@c' }],
  [{ name: ' ' }],
  [{ name: 'x'.repeat(101) }],
])('422 refuses to start with %j', async (wish) => {
  expect((await start({ ...newcomer(), ...wish })).status).toBe(422);
});

it.each([[{ password: 'short' }], [{ password: 'x'.repeat(129) }], [{ password: [PASSWORD] }], [{ code: 123456 }]])(
  '422 refuses to verify with %j',
  async (wish) => expect((await verify(newcomer(), '123456', wish)).status).toBe(422),
);

it('is no form that another site could send: JSON only', async () => {
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, raw: 'email=a@test.example&name=A' };
  expect((await app.as().post('/app/signup/start', undefined, form)).status).toBe(415);
});

it('people with the same mail name get usernames of their own, also at once', async () => {
  const twins = ['a', 'b', 'c', 'd'].map((host) => ({ email: `twin@${host}.example`, name: 'Twin' }));
  for (const twin of twins) await start(twin);
  const codes = await Promise.all(twins.map((twin) => mailedCode(app, twin)));
  const made = await Promise.all(twins.map((twin, i) => verify(twin, codes[i])));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(made.map(({ body }) => body.user.username)).size).toBe(4);
});

describe('who administers the installation', () => {
  it('a first account that is still being made is waited for', async () => {
    const empty = await startApp();
    try {
      const { db } = empty.services;
      const nia = newcomer();
      await empty.as().post('/app/signup/start', nia);
      const code = await mailedCode(empty, nia);
      const other = await db.transaction();
      await other.raw('select pg_advisory_xact_lock(?)', [FIRST_ACCOUNT_LOCK]);
      await other('users').insert({
        email: 'first@test.example',
        name: 'F',
        username: 'f',
        display_name: 'F',
        avatar: 'https://x.test/a.png',
        role: 'admin',
      });
      const made = empty.as().post('/app/signup/verify', { ...nia, code, password: PASSWORD });
      const ours = 'database = (select oid from pg_database where datname = current_database())';
      const waits = async () =>
        Boolean(await db('pg_locks').where({ locktype: 'advisory', granted: false }).whereRaw(ours).first());
      await Promise.race([made, until(waits)]);
      await other.commit();
      expect((await made).body.user.role).toBe('user');
    } finally {
      await empty.close();
    }
  });

  it('is the first account of an empty one, exactly one of many at once, and whom the operator named', async () => {
    const empty = await startApp({ ADMIN_EMAILS: 'boss@test.example, Chief@Test.Example' });
    try {
      const people = ['a', 'b', 'c', 'd'].map((name) => ({ email: `${name}@test.example`, name }));
      const sign = async (person: { email: string; name: string }) => {
        const code = await mailedCode(empty, person);
        return empty.as().post('/app/signup/verify', { ...person, code, password: PASSWORD });
      };
      const begin = (person: object) => empty.as().post('/app/signup/start', person);
      for (const person of people) await begin(person);
      const made = await Promise.all(people.map(sign));
      expect(made.filter(({ body }) => body.user.role === 'admin')).toHaveLength(1);
      const chief = { email: 'chief@test.example', name: 'Chief' };
      await begin(chief);
      expect((await sign(chief)).body.user.role).toBe('admin');
    } finally {
      await empty.close();
    }
  });
});

it('is in no document of the API', async () => {
  const document = await (await fetch(`${app.url}/api/openapi.json`)).text();
  expect(document).not.toContain('signup');
});

it('every route that takes or mails a code is limited, each by its own count, and no header changes the address', async () => {
  const limited = await startApp({ RATE_LIMIT_CODES: '2' });
  try {
    const person = { email: 'x@test.example', password: PASSWORD, code: '000000' };
    const routes: [string, object][] = [
      ['/app/signup/start', { email: person.email, name: 'X' }],
      ['/app/signup/verify', { ...person, name: 'X' }],
      ['/api/auth/2fa/verify', person],
      ['/api/auth/login-otp/verify', person],
      ['/api/auth/login-otp/resend', person],
      ['/api/auth/password/forgot', { email: person.email }],
      ['/api/auth/password/reset', { ...person, new_password: PASSWORD }],
    ];
    for (const [path, body] of routes) {
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1) {
        const headers = { 'x-forwarded-for': `10.1.1.${i}`, 'x-real-ip': `10.1.1.${i}`, forwarded: `for=10.1.1.${i}` };
        statuses.push((await limited.as().post(path, body, { headers })).status);
      }
      expect([path, ...statuses.map((status) => status === 429)]).toEqual([path, false, false, true, true]);
    }
  } finally {
    await limited.close();
  }
});
