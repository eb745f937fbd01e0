import { mailExpiringTokens } from '../../../../api/identity/tokens/mail-expiring-tokens.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildPerson, buildToken, type Person } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Emails before a token expires.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);
const old = { created_at: inDays(-100) };
const tell = () => mailExpiringTokens(app.services);
const mailsTo = async ({ email }: Person) => (await listMails(app.services, email)).map(({ subject }) => subject);
const endsIn = (person: Person, days: number) =>
  app.services
    .db('personal_access_tokens')
    .where({ user_id: person.user_id })
    .update({ expires_at: inDays(days) });

it('tells at 7 days and at 1 day, each once, however often and by however many it is run', async () => {
  const ada = await buildPerson(app);
  await buildToken(app, ada, ['tasks:read'], { ...old, name: 'CI', expires_at: inDays(7.1) });
  expect(await tell()).toBe(0);
  for (const [days, mails] of [
    [6.9, 1],
    [1.1, 1],
    [0.9, 2],
    [0.1, 2],
  ] as const) {
    await endsIn(ada, days);
    await Promise.all([tell(), tell(), tell()]);
    expect([days, await mailsTo(ada)]).toEqual([days, Array.from({ length: mails }, () => 'The token “CI” expires soon')]);
  }
  await endsIn(ada, -0.1);
  expect(await tell()).toBe(0);
});

it('one that nobody looked at for days is told of once, with what is true now', async () => {
  const ada = await buildPerson(app);
  await buildToken(app, ada, ['tasks:read'], { ...old, expires_at: inDays(0.5) });
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
});

it('not of those without an end, revoked, of people who may not sign in, or made for less', async () => {
  const ada = await buildPerson(app);
  const gone = await buildPerson(app, { status: 'suspended' });
  await buildToken(app, ada, ['tasks:read'], { ...old });
  await buildToken(app, ada, ['tasks:read'], { ...old, expires_at: inDays(3), revoked_at: new Date() });
  await buildToken(app, gone, ['tasks:read'], { ...old, expires_at: inDays(3) });
  await buildToken(app, ada, ['tasks:read'], { expires_at: inDays(5) });
  await buildToken(app, ada, ['tasks:read'], { expires_at: inDays(0.9) });
  expect(await tell()).toBe(0);
});

it('tells hundreds', async () => {
  const ada = await buildPerson(app);
  await app.services.db.raw(
    `insert into personal_access_tokens (user_id, name, scopes, token_hash, prefix, created_at, expires_at)
     select ?, 'n', '{tasks:read}', sha256(n::text::bytea), 'svc_pat_', now() - interval '90 days', now() + interval '3 days'
     from generate_series(1, 201) n`,
    [ada.user_id],
  );
  expect(await tell()).toBe(201);
});
