/** The few slots to compare a password are everybody's. */
import { comparePassword, HASHES_AT_ONCE, hashPassword, MAX_WAITING } from '../../../../api/identity/auth/passwords.js';
import type { Actor } from '../../../../api/platform/access/actor.js';
import { countedDatabase } from '../../../../api/platform/database/counted-database.js';
import { buildAccount, PASSWORD } from '../../../factories/accounts.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());

it('a process whose first comparison finds every slot taken goes on comparing later', async () => {
  const compare = () =>
    comparePassword(
      'x',
      () => Promise.resolve({ password_hash: null }),
      async (_whose, matches) => ({ matches }),
    );
  const hashes = Array.from({ length: HASHES_AT_ONCE + MAX_WAITING }, () => hashPassword('x'));
  await expect(compare()).rejects.toThrow('temporarily unavailable');
  await Promise.all(hashes);
  expect(await compare()).toMatchObject({ matches: false });
});

it('nobody keeps one while their own connections are used up', async () => {
  const [eve, other] = [await buildAccount(app), await buildAccount(app)];
  const logIn = (email: string) => app.as().post('/api/auth/login', { email, password: PASSWORD });
  const { token } = (await logIn(eve.email)).body;
  const actor: Actor = { type: 'user', userId: eve.user_id, email: eve.email, role: 'user', sessionId: '', impersonatorId: null };
  const db = countedDatabase(app.services, actor, '10.0.0.7');
  // What a person may hold of eight connections.
  const held = await Promise.all([db.transaction(), db.transaction(), db.transaction()]);
  const waiting = Array.from({ length: 4 }, () => app.as(token).post('/api/auth/2fa/enroll', { password: PASSWORD }));
  const first = await Promise.race([
    ...waiting.map((answer) => answer.then(() => 'whoever waits')),
    logIn(other.email).then(({ status }) => status),
  ]);
  expect(first).toBe(200);
  await Promise.all(held.map((transaction) => transaction.rollback()));
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});
