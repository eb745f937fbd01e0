import { buildCookie, buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type OAuthServer, startOAuthServer } from '../../support/oauth-server.js';
import { post, relay, send } from '../integrations/forge/deliver.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The page where a team binds repositories, on an installation that wants proof of the right to push.

const REPO = 'bigcorp/payroll';

let app: TestApp;
let remote: OAuthServer;
let team: TestTeam;
let path: string;
let browser: Browser;
const db = () => app.services.db;
const bindings = () => db()('forge_repositories').where({ team_id: team.team_id });

beforeAll(async () => {
  remote = await startOAuthServer();
  app = await startApp({
    ...remote.settings,
    LOGIN_OTP: 'off',
    FORGE_BINDING: 'verified',
    FORGE_WEBHOOK_SECRET: 'a-secret-that-no-page-shows',
  });
});
afterAll(async () => {
  remote.close();
  await app.close();
});
beforeEach(async () => {
  await db()('forge_repositories').delete();
  team = await buildTeam(app);
  await givePasswords(app);
  remote.repositories.clear();
  remote.repositories.set(REPO, { full_name: 'BigCorp/Payroll', readers: [], writers: ['octo-ada'] });
  path = `/app/teams/${team.team_id}/code-host`;
  browser = await signIn(app, team.admin);
});

/** Follows the link that the page shows after its button, as the user would at the code host. */
async function connect(): Promise<void> {
  remote.person = { login: 'octo-ada' };
  const { html } = await browser.post(`${path}/connect`, {}, { from: path });
  const grantAt = /href="([^"]+\/login\/oauth\/authorize[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const there = await fetch(grantAt, { redirect: 'manual' });
  const back = new URL(there.headers.get('location') ?? '');
  const cookie = await buildCookie(app, team.admin);
  expect((await fetch(`${app.url}${back.pathname}${back.search}`, { headers: { cookie } })).status).toBe(200);
}

it('says what to enter at the code host, and never the secret', async () => {
  for (const from of [`/app/teams/${team.team_id}`, '/app/cycle-time', '/app/palette?q=github', '/app/palette?q=repository']) {
    expect([from, (await browser.get(from)).html.includes(`href="${path}"`)]).toEqual([from, true]);
  }
  const { html } = await browser.get(path);
  for (const text of ['/api/forge/webhooks</code>', 'application/json', 'FORGE_WEBHOOK_SECRET', 'Dependabot alerts'])
    expect(html).toContain(text);
  expect(html).not.toContain('a-secret-that-no-page-shows');
});

it('binds a repository after the account is connected, with the messages of the API, and unbinds it', async () => {
  const first = await browser.post(path, { repo: REPO });
  expect([first.status, first.html.includes('requires push permission')]).toEqual([403, true]);
  expect(await bindings()).toEqual([]);
  await connect();
  expect((await browser.get(path)).html).toContain('<strong>octo-ada</strong>');
  const bad = await browser.post(path, { repo: 'payroll', project_id: '' });
  expect([bad.status, bad.html.includes('Must be owner/name')]).toEqual([422, true]);
  const none = await browser.post(path, { repo: REPO, project_id: '', sync_issues: 'yes' });
  expect([none.status, none.html.includes('Choose the project')]).toEqual([422, true]);
  const { project_id } = await buildProject(app, team);
  expect((await browser.post(path, { repo: REPO, project_id, sync_issues: 'yes' })).status).toBe(200);
  const [{ binding_id, ...bound }] = await bindings();
  expect(bound).toMatchObject({ repo: REPO, project_id, sync_issues: true });
  // What moves tasks is an automation, which the page offers.
  expect((await browser.get(path)).html).toMatch(/automations\/new\?team=[^"]+&amp;template=start-on-push/);
  const again = await browser.post(path, { repo: REPO, project_id });
  expect([again.status, again.html.includes('already bound')]).toEqual([409, true]);
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.admin.user_id, role: 'admin' });
  const astray = `/app/teams/${other.team_id}/code-host/${binding_id}/unbind`;
  await browser.post(astray, {}, { from: path });
  expect(await bindings()).toHaveLength(1);
  const unbound = await browser.post(`${path}/${binding_id}/unbind`, {}, { from: path });
  expect(unbound.headers.get('location')).toBe(path);
  expect(await bindings()).toEqual([]);
});

it('lists deliveries with the reasons why some were ignored, and counts refused ones', async () => {
  await db()('forge_repositories').insert({ repo: 'acme/rocket', team_id: team.team_id, created_by: team.admin.user_id });
  await db()('forge_repositories').insert({ repo: 'acme/quiet', team_id: team.team_id, created_by: team.admin.user_id });
  await send(app, 'pull_request.merged', { 'repository.full_name': 'acme/rocket' });
  await relay(app);
  await post(app, JSON.stringify({ repository: { full_name: 'acme/rocket' } }), { event: 'star' });
  await post(app, '{}', { secret: 'another' });
  const { html } = await browser.get(path);
  for (const text of ['Applied', 'Not a listed event: star', 'nothing delivered since', 'with a wrong or missing signature'])
    expect(html).toContain(text);
  // The newest delivery stands beside its repository.
  expect(html.split('id="h-bind"')[0]).toContain('Not a listed event: star');
});

it('shows address and secret once with the steps, waits, says that it is connected, rotates and removes', async () => {
  await connect();
  const shown = await browser.post(path, { repo: REPO });
  const secret = /id="secret">([^<]+)</.exec(shown.html)?.[1] as string;
  const url = /id="payload-url">([^<]+)</.exec(shown.html)?.[1] as string;
  for (const text of ['Add webhook', 'application/json', 'Workflow runs', 'data-copy="secret"', 'data-copy="payload-url"'])
    expect(shown.html).toContain(text);
  const waiting = await browser.get(path);
  expect(waiting.html).toContain('Waiting for the first delivery');
  expect(waiting.html).toContain(url);
  expect(waiting.html).not.toContain(secret);
  const to = { path: new URL(url).pathname, secret };
  await send(app, 'ping.repository', { 'repository.full_name': REPO }, to);
  await send(app, 'push.branch', { 'repository.full_name': 'acme/else' }, to);
  await relay(app);
  const connected = (await browser.get(path)).html;
  for (const text of ['Connected', 'the address works', 'Refused', `takes deliveries of ${REPO} only`])
    expect(connected).toContain(text);
  const [{ binding_id }] = await bindings();
  const { secret_id } = await db()('forge_addresses').where({ binding_id }).first();
  const rotated = await browser.post(`${path}/${binding_id}/address/rotate`, { replaces: secret_id }, { from: path });
  expect([rotated.status, rotated.html.includes('also counts for 24 hours')]).toEqual([200, true]);
  const again = await browser.post(`${path}/${binding_id}/address/rotate`, { replaces: secret_id }, { from: path });
  expect(again.status).toBe(303);
  const project = await buildProject(app, team);
  expect((await browser.post(path, { repo: REPO, ...project })).status).toBe(303);
  expect((await browser.post(`${path}/${binding_id}/address/remove`, {}, { from: path })).status).toBe(303);
  expect(await db()('forge_addresses').where({ binding_id })).toEqual([]);
  const made = await browser.post(`${path}/${binding_id}/address`, {}, { from: path });
  expect(made.html).toContain('id="secret"');
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.admin.user_id, role: 'admin' });
  await browser.post(`/app/teams/${other.team_id}/code-host/${binding_id}/address/remove`, {}, { from: path });
  expect(await db()('forge_addresses').where({ binding_id })).toHaveLength(1);
});

it('is for admins of the team', async () => {
  const manager = await signIn(app, team.manager);
  expect((await manager.get(`/app/teams/${team.team_id}`)).html).not.toContain(path);
  expect((await manager.get('/app/cycle-time')).html).not.toContain(path);
  expect((await manager.get(path)).status).toBe(403);
  const stranger = await buildTeam(app);
  await givePasswords(app);
  expect((await (await signIn(app, stranger.admin)).get(path)).status).toBe(403);
});
