import { inTransaction, serviceContext } from '../../../../api/platform/context.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { queueDigests, spendMailBudget } from '../../../../api/platform/mail/mail-budget.js';
import { notifyUsers } from '../../../../api/work/notifications/notify-users.js';
import type { NotificationKind } from '../../../../api/work/notifications/schema.js';
import { buildPerson, buildTeam, type Person } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// How many emails other people can make one address receive.

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ MAILS_PER_RECIPIENT_HOUR: '9' });
});
afterAll(() => app.close());

const ctx = () => serviceContext(app.services, 'test');
const db = () => app.services.db;
/** Notifies the people as a run of the team does, in a transaction of its own. */
const notify = (
  people: Person[],
  team_id: string,
  channels: ('in_app' | 'email')[] = ['email'],
  kind: NotificationKind = 'message',
) =>
  inTransaction(ctx(), (ctx) =>
    notifyUsers(
      ctx,
      people.map(({ user_id, email }) => ({ user_id, email, name: 'Uma' })),
      { kind, title: 'Build', message: 'It is green', team_id, run_id: null },
      channels,
    ),
  );
const subjects = async (person: Person) => (await listMails(app.services, person.email)).map(({ subject }) => subject);
const inbox = async (person: Person) => (await app.as(person).get('/api/notifications')).body.length;
const hourIsOver = (person: Person) =>
  db()('mail_budgets')
    .where({ recipient: person.email })
    .update({ hour: db().raw("hour - interval '1 hour'") });

it('one team sends two thirds of the messages, all together their limit; what is held back stands in the inbox and in one digest', async () => {
  const teams = [await buildTeam(app), await buildTeam(app)];
  const { member } = teams[0] as (typeof teams)[0];
  const [first, second] = teams.map(({ team_id }) => team_id) as [string, string];
  await db()('memberships').insert({ team_id: second, user_id: member.user_id, role: 'member' });
  for (let n = 0; n < 6; n += 1) await notify([member], first);
  expect([(await subjects(member)).length, await inbox(member)]).toEqual([4, 2]);
  for (let n = 0; n < 3; n += 1) await notify([member], second, ['in_app', 'email']);
  expect([(await subjects(member)).length, await inbox(member)]).toEqual([6, 5]);

  await queueDigests(app.services);
  expect((await subjects(member)).length).toBe(6);
  await hourIsOver(member);
  await Promise.all([queueDigests(app.services), queueDigests(app.services), queueDigests(app.services)]);
  const [digest, ...others] = await listMails(app.services, member.email);
  expect([digest?.subject, others.length]).toEqual(['3 more notifications', 6]);
  expect(digest?.text).toContain('3 × Message of an automation');
  await notify([member], first);
  expect((await subjects(member)).length).toBe(8);
});

it('counts exactly when many transactions notify the same people in different orders, and a rollback counts for nothing', async () => {
  const { team_id } = await buildTeam(app);
  const people = [await buildPerson(app), await buildPerson(app), await buildPerson(app)];
  const [other] = [await buildTeam(app)];
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => notify(n % 2 ? people : people.toReversed(), n < 8 ? team_id : other.team_id)),
  );
  for (const person of people) {
    const [row] = await db()('mail_budgets').where({ recipient: person.email });
    expect([row.sent, row.held, (await subjects(person)).length]).toEqual([6, 6, 6]);
    expect(Object.values(row.sent_by_team as Record<string, number>).every((sent) => sent <= 4)).toBe(true);
  }
  const alone = await buildPerson(app);
  await inTransaction(ctx(), async (ctx) => {
    await spendMailBudget(ctx, [alone.email], { team_id, kind: 'message', isAtWill: true });
    throw new Error('undone');
  }).catch(() => undefined);
  expect(await db()('mail_budgets').where({ recipient: alone.email })).toEqual([]);
});

it('messages leave a third to what waits for an answer, in their own team and from all teams', async () => {
  const [own, second, third] = [await buildTeam(app), await buildTeam(app), await buildTeam(app)];
  const person = await buildPerson(app);
  for (const { team_id } of [own, second, third]) for (let n = 0; n < 6; n += 1) await notify([person], team_id);
  expect((await subjects(person)).length).toBe(6);
  const ask = ({ team_id }: { team_id: string }) => notify([person], team_id, ['in_app', 'email'], 'approval_requested');
  for (let n = 0; n < 3; n += 1) await ask(own);
  expect((await subjects(person)).length).toBe(8);
  for (let n = 0; n < 3; n += 1) await ask(third);
  expect((await subjects(person)).length).toBe(9);
});

it('no digest goes to an account that is no longer active', async () => {
  const { team_id } = await buildTeam(app);
  const person = await buildPerson(app);
  for (let n = 0; n < 6; n += 1) await notify([person], team_id);
  await db()('users').where({ user_id: person.user_id }).update({ status: 'suspended' });
  await hourIsOver(person);
  await queueDigests(app.services);
  expect((await subjects(person)).length).toBe(4);
});
