import { sendDigests } from '../../../../api/automation/triage/send-digests.js';
import { triageNight } from '../../../../api/automation/triage/triage-night.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { zoneAt } from './zone-at.js';

// One email a person and morning, about what waits.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const db = () => app.services.db;
const DAY_MS = 86_400_000;

const live = (person: Person, hour: number) =>
  db()('users')
    .where({ user_id: person.user_id })
    .update({ preferences: JSON.stringify({ timezone: zoneAt(hour) }) });
const mailsTo = async ({ email }: Person) => (await listMails(app.services, email)).map(({ subject }) => subject);
const night = (days = 0) => triageNight(app.services, team.team_id, new Date(Date.now() + days * DAY_MS).toISOString());
/** Yesterday's email, as far as the table knows. */
const dayBefore = () =>
  db()('agent_digests').update({ sent_for: db().raw('sent_for - 1'), sent_at: db().raw("sent_at - interval '1 day'") });

beforeEach(async () => {
  // What earlier tests left must not wait in this one.
  await db()('agent_plans').where({ status: 'staged' }).update({ status: 'expired' });
  team = await buildTeam(app);
  await db()('teams').where({ team_id: team.team_id }).update({ name: 'Acme' });
  await Promise.all([team.admin, team.manager, team.member, team.guest].map((person) => live(person, 8)));
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { overnight_triage: { enabled: true } });
  const project = await buildProject(app, team);
  for (const title of ['A', 'B']) await buildTask(app, team, project, { title, due_date: '2020-01-01' });
});

it('tells those who may confirm, once a morning, with counts and one link', async () => {
  await night();
  expect(await sendDigests(app.services)).toBe(3);
  expect(await sendDigests(app.services)).toBe(0);
  expect(await mailsTo(team.manager)).toEqual(['Acme: 2 suggestions']);
  expect(await mailsTo(team.guest)).toEqual([]);
  const [mail] = await listMails(app.services, team.member.email);
  const text = mail?.text ?? '';
  expect(text).toContain('Overnight triage, 2 task updates');
  expect(text.match(/https?:\/\/\S+/g)).toEqual([expect.stringMatching(/\/app\/approvals$/)]);
});

it('in the morning of each: not before seven, not in the afternoon', async () => {
  await night();
  await live(team.admin, 5);
  await live(team.manager, 14);
  expect(await sendDigests(app.services)).toBe(1);
  await live(team.admin, 8);
  expect(await sendDigests(app.services)).toBe(1);
  expect([await mailsTo(team.admin), await mailsTo(team.manager)]).toEqual([['Acme: 2 suggestions'], []]);
});

it('nothing new, no email; what was decided is not mentioned', async () => {
  const { actionId } = await night();
  await sendDigests(app.services);
  await dayBefore();
  await db()('agent_plans')
    .where({ action_id: actionId })
    .update({ staged_at: db().raw("now() - interval '2 days'") });
  expect(await sendDigests(app.services)).toBe(0);
  await night(1);
  expect(await sendDigests(app.services)).toBe(3);
  await dayBefore();
  await db()('agent_plans').update({ status: 'expired', decided_at: null, closed_reason: null });
  expect(await sendDigests(app.services)).toBe(0);
});

it('a plan of high risk is for managers, and the subject says so', async () => {
  const { actionId } = await night();
  await db()('agent_plans').where({ action_id: actionId }).update({ risk: 'high' });
  expect(await sendDigests(app.services)).toBe(2);
  expect(await mailsTo(team.manager)).toEqual(['Acme: 2 suggestions, 1 of high risk']);
  expect(await mailsTo(team.member)).toEqual([]);
});

it('several workers at once send one email a person; an unknown zone counts as UTC', async () => {
  await night();
  await db()('users').where({ user_id: team.guest.user_id }).update({ preferences: '{"timezone": "Mars/Base"}' });
  const sent = await Promise.all([sendDigests(app.services), sendDigests(app.services), sendDigests(app.services)]);
  expect(sent.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(await mailsTo(team.admin)).toEqual(['Acme: 2 suggestions']);
});

it('sends nothing to suspended or former members', async () => {
  await night();
  await db()('users').where({ user_id: team.manager.user_id }).update({ status: 'suspended' });
  await db()('memberships').where({ user_id: team.member.user_id }).delete();
  expect(await sendDigests(app.services)).toBe(1);
});
