import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

// The page of a team's agent: what it does next, what it used, and its switches.

let app: TestApp;
let team: TestTeam;
let path: string;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  path = `/app/teams/${team.team_id}/agent`;
});

const row = () => app.services.db('agent_settings').where({ team_id: team.team_id }).first();
const fields = { cron: '0 2 * * *', timezone: 'UTC', quota: '' };

it('shows the next night, what it would propose and the use; saves, and resets what is not ticked', async () => {
  await buildTask(app, team, await buildProject(app, team), { due_date: '2020-01-01' });
  const browser = await signIn(app, team.admin);
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain(`href="${path}"`);
  expect((await browser.get(path)).html).toContain('It is off.');
  const saved = await browser.post(path, { ...fields, overnight: 'on', ci: 'on', quota: '7', timezone: 'Europe/Berlin' });
  expect([saved.status, saved.headers.get('location')]).toEqual([303, path]);
  const { html } = await browser.get(path);
  expect(html).toMatch(/<time datetime="\d{4}-\d\d-\d\dT0[01]:[0-5]\d:00\.000Z">/);
  expect(html).toContain('a higher priority for 1 task and a question on 0 tasks');
  expect(html).toContain('<strong>0</strong> messages of 7');
  expect(html).toContain('This installation has no model');
  expect(await row()).toMatchObject({ overnight_enabled: true, ci_enabled: true, monthly_message_quota: 7 });
  await browser.post(path, fields);
  expect(await row()).toMatchObject({ overnight_enabled: false, ci_enabled: false, monthly_message_quota: null });
});

it.each([
  ['a schedule of every hour', { cron: '0 * * * *' }, 400, 'at most once a day'],
  ['an unknown zone', { timezone: 'Mars/Base' }, 422, 'Must be an IANA time zone'],
  ['a quota that is no number', { quota: 'many' }, 422, 'Must be a whole number, or empty for no limit'],
])('says beside the form what is wrong with %s, and keeps what was typed', async (_what, wrong, status, words) => {
  const browser = await signIn(app, team.admin);
  const answer = await browser.post(path, { ...fields, ci: 'on', ...wrong });
  expect(answer.status).toBe(status);
  expect(answer.html).toContain(words);
  expect(answer.html).toMatch(/name="ci" value="on" checked/);
  expect(await row()).toBeUndefined();
});

it('tells that the admin who enabled it may no longer write, and another’s save repairs it', async () => {
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { overnight_triage: { enabled: true } });
  await app.services.db('memberships').where({ user_id: team.manager.user_id }).update({ role: 'admin' });
  await app.services.db('memberships').where({ user_id: team.admin.user_id }).delete();
  const browser = await signIn(app, team.manager);
  expect((await browser.get(path)).html).toContain('may no longer write in this team');
  await browser.post(path, { ...fields, overnight: 'on' });
  expect((await browser.get(path)).html).not.toContain('may no longer write in this team');
});

it('is for admins of the team only', async () => {
  for (const person of [team.manager, team.member, team.guest, (await buildTeam(app)).admin]) {
    await givePasswords(app);
    const browser = await signIn(app, person);
    expect((await browser.get(path)).status).toBe(403);
    expect((await browser.post(path, { ...fields, overnight: 'on' }, { from: '/app/teams' })).status).toBe(403);
  }
  expect(await row()).toBeUndefined();
});
