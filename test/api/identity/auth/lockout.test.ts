import { comparePassword, HASHES_AT_ONCE, MAX_WAITING } from '../../../../api/identity/auth/passwords.js';
import { unlock } from '../../../../api/identity/auth/unlock.js';
import {
  buildAccount,
  buildTwoFactorAccount,
  buildContext,
  mailedCode,
  mailsTo,
  PASSWORD,
  type TestAccount,
} from '../../../factories/accounts.js';
import { buildToken } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

// Attempts at an account's secrets are counted before verification, on all routes together.

const LIMIT = 5;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ LOCKOUT_FAILURES: String(LIMIT) });
});
afterAll(() => app.close());

const post = (path: string, body: object, token?: string) => app.as(token).post(`/api/auth/${path}`, body);
const logIn = ({ email }: { email: string }, password = PASSWORD, more: object = {}) =>
  post('login', { email, password, ...more });
const times = async (n: number, work: () => Promise<unknown>) => {
  for (let i = 0; i < n; i += 1) await work();
};
const findGuard = ({ email }: { email: string }) =>
  app.services
    .db('login_attempts')
    .where({ subject: `mail ${email}` })
    .first();
const findAudit = ({ user_id }: TestAccount, action: string) =>
  app.services.db('audit_entries').where({ entity_id: user_id, action });
const forgive = ({ email }: { email: string }, minutes: number) =>
  app.services
    .db('login_attempts')
    .where({ subject: `mail ${email}` })
    .update({
      first_attempt_at: app.services.db.raw('first_attempt_at - make_interval(mins => ?)', [minutes]),
      locked_until: app.services.db.raw('locked_until - make_interval(mins => ?)', [minutes]),
    });

/** Compares with the hash of no account, once `begin` is done. Returns whether it matches. */
const compareWithNothing = (begin: () => Promise<void>) =>
  comparePassword(
    'x',
    () => begin().then(() => ({ password_hash: null })),
    async (_whose, matches) => matches,
  );

describe('the lock', () => {
  it('comes with the last try, refuses the right password in the same words, and ends by itself', async () => {
    const eve = await buildAccount(app);
    await times(LIMIT - 1, () => logIn(eve, 'wrong'));
    expect((await logIn(eve)).status).toBe(200);
    expect(await findGuard(eve)).toBeUndefined();
    await times(LIMIT, () => logIn(eve, 'wrong'));
    const { status, body } = await logIn(eve);
    expect([status, body]).toMatchObject([401, { error_code: 'AUTHENTICATION_REQUIRED', message: 'Invalid credentials' }]);
    expect(await findAudit(eve, 'lockout')).toMatchObject([{ severity: 'HIGH', outcome: 'denied' }]);
    await forgive(eve, 14);
    expect((await logIn(eve)).status).toBe(401);
    await forgive(eve, 2);
    expect((await logIn(eve)).status).toBe(200);
  });

  it('counts only what came within the last fifteen minutes', async () => {
    const eve = await buildAccount(app);
    await times(LIMIT - 1, () => logIn(eve, 'wrong'));
    await forgive(eve, 16);
    await times(LIMIT - 1, () => logIn(eve, 'wrong'));
    expect((await logIn(eve)).status).toBe(200);
  });

  it('checks exactly the limit of concurrent wrong passwords, and sends one email about the lock', async () => {
    const eve = await buildAccount(app);
    await Promise.all(Array.from({ length: 40 }, () => logIn(eve, 'wrong')));
    expect(await findGuard(eve)).toMatchObject({ attempts: LIMIT, locked_until: expect.any(Date) });
    expect(await findAudit(eve, 'lockout')).toHaveLength(1);
    expect(await mailsTo(app, eve)).toMatchObject([{ subject: 'Your account is temporarily locked' }]);
  });

  it('many right ones at once are no failures', async () => {
    const eve = await buildAccount(app);
    const answers = await Promise.all(Array.from({ length: 30 }, () => logIn(eve)));
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
  });

  it('right ones whose sessions wait to be opened are no failures either', async () => {
    const eve = await buildAccount(app);
    const { db } = app.services;
    const held = await db.transaction();
    await held('users').where({ user_id: eve.user_id }).forUpdate().select('user_id');
    const answers: ReturnType<typeof logIn>[] = [];
    // The row is written when an attempt begins, and again when it was right.
    const findSettled = (but: string) =>
      db('login_attempts')
        .where({ subject: `mail ${eve.email}`, attempts: 0 })
        .whereRaw('xmin::text <> ?', [but])
        .first<{ xid: string } | undefined>(db.raw('xmin::text as xid'));
    let seen = '';
    while (answers.length <= LIMIT) {
      answers.push(logIn(eve));
      seen = (await until(() => findSettled(seen))).xid;
    }
    await held.rollback();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(LIMIT + 1).fill(200));
  });

  it('an address without an account is counted and locked alike, and nobody is mailed', async () => {
    const nobody = { email: `nobody${Date.now()}@test.example` };
    await times(LIMIT + 2, () => logIn(nobody, 'wrong'));
    expect(await findGuard(nobody)).toMatchObject({ attempts: LIMIT, locked_until: expect.any(Date) });
    expect(await mailsTo(app, nobody)).toEqual([]);
  });

  it('of an administrator is CRITICAL in the audit log', async () => {
    const root = await buildAccount(app, { role: 'admin' });
    await times(LIMIT, () => logIn(root, 'wrong'));
    expect(await findAudit(root, 'lockout')).toMatchObject([{ severity: 'CRITICAL' }]);
  });

  it('leaves personal access tokens and open sessions alone', async () => {
    const eve = await buildAccount(app);
    const [pat, { body }] = [await buildToken(app, { ...eve, token: '' }, ['tasks:read']), await logIn(eve)];
    await times(LIMIT, () => logIn(eve, 'wrong'));
    expect((await app.as(pat).get('/api/auth/me')).status).toBe(200);
    expect((await app.as(body.token).get('/api/auth/me')).status).toBe(200);
  });
});

describe('every sign-in path counts on the same account', () => {
  /** One wrong try each, by the doors that take a secret. */
  const DOORS: Record<
    string,
    (eve: Awaited<ReturnType<typeof buildTwoFactorAccount>>, token: string) => Promise<{ status: number }>
  > = {
    'a wrong password at login': (eve) => logIn(eve, 'wrong'),
    'a wrong second factor': (eve) => post('2fa/verify', { email: eve.email, password: PASSWORD, code: '000000' }),
    'a wrong password beside a second factor': (eve) =>
      post('2fa/verify', { email: eve.email, password: 'wrong', code: eve.authenticator.code() }),
    'a wrong mailed code': (eve) => post('login-otp/verify', { email: eve.email, password: PASSWORD, code: '000000' }),
    'a wrong password for another code': (eve) => post('login-otp/resend', { email: eve.email, password: 'wrong' }),
    'a wrong code for a new password': (eve) =>
      post('password/reset', { email: eve.email, code: '000000', new_password: 'battery staple correct' }),
    'a wrong current password': (_eve, token) =>
      post('password/change', { current_password: 'wrong', new_password: 'battery staple correct' }, token),
    'a wrong password to enroll': (_eve, token) => post('2fa/enroll', { password: 'wrong' }, token),
    'a wrong code to turn two factors off': (_eve, token) => post('2fa/disable', { password: PASSWORD, code: '000000' }, token),
  };
  const openTo = async (eve: Awaited<ReturnType<typeof buildTwoFactorAccount>>) =>
    (await post('2fa/verify', { email: eve.email, password: PASSWORD, code: eve.recovery.pop() as string })).body.token as string;

  it.each(Object.keys(DOORS))('%s', async (door) => {
    const eve = await buildTwoFactorAccount(app);
    const token = await openTo(eve);
    const answer = await DOORS[door]?.(eve, token);
    expect([401, 403]).toContain(answer?.status);
    expect((await findGuard(eve)).attempts).toBe(1);
  });

  it('once locked by one, all are closed, the right proof too', async () => {
    const eve = await buildTwoFactorAccount(app);
    const token = await openTo(eve);
    const code = () => eve.recovery.pop() as string;
    await post('password/forgot', { email: eve.email });
    const mailed = await mailedCode(app, eve);
    for (const door of Object.values(DOORS).slice(0, LIMIT)) await door(eve, token);
    const right = [
      await logIn(eve),
      await post('2fa/verify', { email: eve.email, password: PASSWORD, code: code() }),
      await post('password/reset', { email: eve.email, code: mailed, new_password: 'battery staple correct' }),
      await post('2fa/disable', { password: PASSWORD, code: code() }, token),
      await post('password/change', { current_password: PASSWORD, new_password: 'battery staple correct' }, token),
    ];
    expect(right.map(({ status }) => status)).toEqual([401, 401, 401, 403, 403]);
  });

  it('a challenge is neither a failure nor a success', async () => {
    const eve = await buildTwoFactorAccount(app);
    await times(LIMIT - 2, () => logIn(eve, 'wrong'));
    await times(LIMIT, async () => expect((await logIn(eve)).body).toMatchObject({ requires_2fa: true }));
    expect(await findGuard(eve)).toMatchObject({ attempts: LIMIT - 2, locked_until: null });
    await times(2, () => logIn(eve, 'wrong'));
    expect((await logIn(eve)).status).toBe(401);
  });
});

describe('a trusted device', () => {
  const trusting = async () => {
    const dana = await buildAccount(app, { login_otp_exempt: false });
    await logIn(dana);
    const code = await mailedCode(app, dana);
    const { body } = await post('login-otp/verify', { email: dana.email, password: PASSWORD, code, trust_device: true });
    return { ...dana, device_token: body.device_token as string };
  };

  it('has its own count: an attacker who locks the account does not lock its owner out there', async () => {
    const { device_token, ...dana } = await trusting();
    await times(LIMIT, () => logIn(dana, 'wrong'));
    expect((await logIn(dana)).status).toBe(401);
    expect((await logIn(dana, PASSWORD, { device_token })).status).toBe(200);
    expect((await logIn(dana)).status).toBe(401);
  });

  it('is locked by its own failures, and the account is not', async () => {
    const { device_token, ...dana } = await trusting();
    await times(LIMIT, () => logIn(dana, 'wrong', { device_token }));
    expect((await logIn(dana, PASSWORD, { device_token })).status).toBe(401);
    expect((await logIn(dana)).body).toMatchObject({ requires_login_otp: true });
  });

  it('a made-up token buys no attempts', async () => {
    const dana = await buildAccount(app);
    await times(LIMIT, () => logIn(dana, 'wrong', { device_token: `${Math.random()}` }));
    expect((await logIn(dana, PASSWORD, { device_token: 'another' })).status).toBe(401);
  });
});

describe('the mail’s link', () => {
  it('unlocks once; the token itself is not stored', async () => {
    const eve = await buildAccount(app);
    await times(LIMIT, () => logIn(eve, 'wrong'));
    const token = /\/app\/unlock\?token=([\w-]{43})/.exec((await mailsTo(app, eve))[0]?.text ?? '')?.[1] as string;
    expect(JSON.stringify(await findGuard(eve))).not.toContain(token);
    await expect(unlock(buildContext(app), 'x'.repeat(43))).rejects.toMatchObject({ status: 400 });
    await unlock(buildContext(app), token);
    expect(await findAudit(eve, 'unlock')).toMatchObject([{ severity: 'MEDIUM', outcome: 'success' }]);
    expect((await logIn(eve)).status).toBe(200);
    await expect(unlock(buildContext(app), token)).rejects.toMatchObject({ status: 400 });
  });
});

describe('hashing', () => {
  it('goes a few at a time, a hundred wait, and the next is told to come back', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let begun = 0;
    const held = Array.from({ length: HASHES_AT_ONCE + MAX_WAITING }, () =>
      compareWithNothing(async () => {
        begun += 1;
        await gate;
      }),
    );
    const answer = await logIn({ email: 'x@test.example' });
    expect([answer.status, answer.headers.get('retry-after'), answer.body.error_code]).toEqual([503, '2', 'INTERNAL_ERROR']);
    expect(begun).toBe(HASHES_AT_ONCE);
    expect(HASHES_AT_ONCE).toBeLessThanOrEqual(4);
    // Everything else goes on.
    expect((await app.as().get('/api/auth/me')).status).toBe(401);
    open();
    expect((await Promise.all(held)).every((matches) => !matches)).toBe(true);
    expect((await logIn({ email: 'x@test.example' })).status).toBe(401);
  });

  it('one signed-in person cannot fill the queue of all: four of theirs wait, the fifth is told to come back', async () => {
    const eve = await buildAccount(app);
    const { token } = (await logIn(eve)).body;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const busy = Array.from({ length: HASHES_AT_ONCE }, () => compareWithNothing(() => gate));
    let refused = 0;
    const answers = Array.from({ length: 12 }, async () => {
      const { status } = await post('2fa/enroll', { password: PASSWORD }, token);
      refused += status === 503 ? 1 : 0;
      if (refused === 8) open();
      return status;
    });
    expect((await Promise.all(answers)).filter((status) => status === 200)).toHaveLength(4);
    await Promise.all(busy);
    expect((await post('2fa/enroll', { password: PASSWORD }, token)).status).toBe(200);
  });
});
