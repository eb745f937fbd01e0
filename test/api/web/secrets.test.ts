import { buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, openBrowser, signIn } from './browser.js';

// The page of a team's secrets: admins store and delete them, and no page ever shows a value.

const VALUE = 'a-value-that-no-page-shows';
let app: TestApp;
let team: TestTeam;
let path: string;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off', RATE_LIMIT_CODES: '1' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  path = `/app/teams/${team.team_id}/secrets`;
});

const open = (person: TestTeam['admin']): Promise<Browser> => signIn(app, person);

it('stores a secret, keeps its hosts with a new value, and deletes it', async () => {
  const browser = await open(team.admin);
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain(`href="${path}"`);
  const stored = await browser.post(path, {
    name: 'DEPLOY TOKEN',
    value: VALUE,
    allowed_hosts: 'api.example.com, *.example.org',
  });
  expect([stored.status, stored.headers.get('location')]).toEqual([303, path]);
  await browser.post(path, { name: 'DEPLOY TOKEN', value: `${VALUE}-2`, allowed_hosts: '' });
  const { html } = await browser.get(path);
  expect(html).toContain('DEPLOY TOKEN');
  expect(html).toContain('Sent to api.example.com, *.example.org only');
  expect(html).not.toContain(VALUE);
  expect((await browser.post(`${path}/delete`, { name: 'DEPLOY TOKEN' }, { from: path })).status).toBe(303);
  expect((await browser.get(path)).html).toContain('No secrets yet.');
});

it('says what is wrong beside the field, without the value', async () => {
  const browser = await open(team.admin);
  const answer = await browser.post(path, { name: 'X', value: VALUE, allowed_hosts: 'https://api.example.com/x' });
  expect(answer.status).toBe(422);
  expect(answer.html).toContain('Must be at most 20 hosts such as api.example.com');
  expect(answer.html).not.toContain(VALUE);
});

it('is for admins of the team only', async () => {
  const outsider = (await buildTeam(app)).admin;
  await givePasswords(app);
  for (const person of [team.manager, team.member, team.guest, outsider]) {
    const browser = await open(person);
    expect((await browser.get(path)).status).toBe(403);
    const answer = await browser.post(path, { name: 'X', value: VALUE }, { from: '/app/teams' });
    expect(answer.status).toBe(403);
  }
  expect(await app.services.db('team_secrets').where({ team_id: team.team_id })).toEqual([]);
});

it('names the time to wait beside a form that was sent too often', async () => {
  const browser = openBrowser(app);
  await browser.post('/app/password/forgotten', { email: 'a@example.com' });
  const again = await browser.post('/app/password/forgotten', { email: 'a@example.com' });
  expect(again.status).toBe(429);
  expect(again.html).toMatch(/At most 1 requests a minute; try again in \d+ seconds?/);
});

it('offers first steps on the home page until a run exists', async () => {
  const { html } = await (await open(team.member)).get('/app');
  expect(html).toContain('First steps');
  expect((await (await open(team.guest)).get('/app')).html).not.toContain('First steps');
});
