import { SCOPES } from '../../../api/platform/access/scopes.js';
import { ENDPOINTS } from '../../../api/http/router.js';
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, buildVisitor, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let admin: Browser;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  admin = await signIn(app, team.admin);
});
afterAll(() => app.close());

/** What the next page says. */
const said = async (browser: Browser, path: string): Promise<string> =>
  /class="notice (?:good|bad)(?: toast)?"[^>]*>.*?<span>([^<]*)</s.exec((await browser.get(path)).html)?.[1] ?? '';

describe('access tokens', () => {
  const path = '/app/account/tokens';

  it('are shown once, work, are listed masked, and are revoked', async () => {
    const browser = await signIn(app, await buildVisitor(app));
    const made = await browser.post(path, { name: 'CI', scopes: ['tasks:read', 'tasks:write'], expires_in_days: '30' });
    expect(made.status).toBe(200);
    const secret = /svc_pat_[\w-]{43}/.exec(made.html)?.[0] as string;
    expect((await app.as(secret).get('/api/tasks/my')).status).toBe(200);
    const { html } = await browser.get(path);
    expect(html).not.toContain(secret);
    expect(html).toContain(`${secret.slice(0, 12)}...`);
    const revoke = new RegExp(`${path}/[0-9a-f-]+/revoke`).exec(html)?.[0] as string;
    expect((await browser.post(revoke, {}, { from: path })).headers.get('location')).toBe(path);
    expect((await app.as(secret).get('/api/tasks/my')).status).toBe(401);
  });

  it('offer every scope, and each is asked for by some route', async () => {
    const asked = new Set<string | undefined>(ENDPOINTS.map((endpoint) => (endpoint.raw ? undefined : endpoint.scope)));
    const scopes = Object.keys(SCOPES);
    expect(scopes.filter((scope) => scope !== 'admin:*' && !asked.has(scope))).toEqual([]);
    const { html } = await (await signIn(app, await buildVisitor(app))).get(path);
    for (const scope of scopes) expect(html).toContain(`value="${scope}"`);
  });

  it('are strict unless the box is unticked, and the list says what one that is not may do', async () => {
    const person = await buildVisitor(app);
    const browser = await signIn(app, person);
    const box = (html: string) => /<input type="checkbox" name="strict"[^>]*>/.exec(html)?.[0];
    expect(box((await browser.get(path)).html)).toContain('checked');
    const fields = { scopes: 'tasks:read', expires_in_days: '30' };
    await browser.post(path, { ...fields, name: 'ticked', strict: 'on' }, { from: path });
    expect((await browser.get(path)).html).toContain('· strict<br>');
    await browser.post(path, { ...fields, name: 'unticked' }, { from: path });
    expect((await browser.get(path)).html).toContain('not strict: everything you can do, except on seven routes');
    const rows = await app.services.db('personal_access_tokens').where({ user_id: person.user_id }).orderBy('created_at');
    expect(rows.map(({ name, strict }) => [name, strict])).toEqual([
      ['ticked', true],
      ['unticked', false],
    ]);
    const again = await browser.post(path, { ...fields, name: '' }, { from: path });
    expect([again.status, box(again.html)?.includes('checked')]).toEqual([422, false]);
  });

  it('are for an outside agent where the box is ticked, and the page names the address to give it', async () => {
    const person = await buildVisitor(app);
    const browser = await signIn(app, person);
    const fields = { scopes: 'tasks:read', expires_in_days: '30', strict: 'on' };
    const agent = await browser.post(path, { ...fields, name: 'agent', mcp_only: 'on' }, { from: path });
    expect(agent.html).toContain('/api/mcp</code>');
    expect((await browser.post(path, { ...fields, name: 'script' }, { from: path })).html).not.toContain('/api/mcp');
    expect((await browser.get(path)).html).toContain('· MCP only<br>');
    const rows = await app.services.db('personal_access_tokens').where({ user_id: person.user_id }).orderBy('created_at');
    expect(rows.map(({ name, mcp_only }) => [name, mcp_only])).toEqual([
      ['agent', true],
      ['script', false],
    ]);
  });

  it('one scope or several, days or never', async () => {
    const person = await buildVisitor(app);
    const browser = await signIn(app, person);
    await browser.post(path, { name: 'one', scopes: 'tasks:read', expires_in_days: '0' });
    const row = await app.services.db('personal_access_tokens').where({ user_id: person.user_id }).first();
    expect(row).toMatchObject({ scopes: ['tasks:read'], expires_at: null });
  });

  it.each([
    ['no scope', { name: 'x', expires_in_days: '30' }, 422, 'Choose at least one scope'],
    ['an unknown scope', { name: 'x', scopes: 'root', expires_in_days: '30' }, 400, 'Unknown scope: root'],
    ['no name', { name: ' ', scopes: 'tasks:read', expires_in_days: '30' }, 422, 'Check the highlighted fields.'],
    ['too many days', { name: 'x', scopes: 'tasks:read', expires_in_days: '3651' }, 422, 'Check the highlighted fields.'],
    ['two names', { name: ['x', 'y'], scopes: 'tasks:read', expires_in_days: '30' }, 422, 'Check the highlighted fields.'],
  ])('%s comes back with what was typed', async (_what, fields, status, words) => {
    const browser = await signIn(app, await buildVisitor(app));
    const answer = await browser.post(path, fields as Record<string, string | string[]>);
    expect(answer.status).toBe(status);
    expect(answer.html).toContain(words);
    expect(answer.html).toContain('value="30"');
  });

  it('of other users are not found', async () => {
    const owner = await buildVisitor(app);
    await (await signIn(app, owner)).post(path, { name: 'mine', scopes: 'tasks:read', expires_in_days: '30' });
    const row = await app.services.db('personal_access_tokens').where({ user_id: owner.user_id }).first();
    expect((await admin.post(`${path}/${row.token_id}/revoke`, {}, { from: path })).status).toBe(404);
    expect((await app.services.db('personal_access_tokens').where({ token_id: row.token_id }).first()).revoked_at).toBeNull();
  });

  it('are not created, and roles not changed, while impersonating', async () => {
    const [person, root] = [await buildVisitor(app), await buildVisitor(app, { role: 'admin' })];
    const browser = await signIn(app, person);
    await app.services.db('sessions').where({ user_id: person.user_id }).update({ impersonator_id: root.user_id });
    const answer = await browser.post(path, { name: 'x', scopes: 'tasks:read', expires_in_days: '30' }, { from: '/app' });
    expect(answer.status).not.toBe(200);
    expect(await app.services.db('personal_access_tokens').where({ user_id: person.user_id })).toEqual([]);
  });
});

describe('teams', () => {
  it('are made, named and described', async () => {
    const made = await admin.post('/app/teams', { name: 'Rockets', description: '' });
    const path = made.headers.get('location') as string;
    expect((await admin.get(path)).html).toContain('<h1>Rockets</h1>');
    await admin.post(path, { name: 'Rockets', description: 'Fly' });
    expect((await admin.get('/app/teams')).html).toContain('Fly');
    const refused = await admin.post('/app/teams', { name: '', description: 'kept' });
    expect(refused.status).toBe(422);
    expect(refused.html).toContain('value="kept"');
  });

  it('of a user without one lead on to the first steps', async () => {
    const browser = await signIn(app, await buildVisitor(app));
    const made = await browser.post('/app/teams', { name: 'First' }, { from: '/app' });
    expect(made.headers.get('location')).toBe('/app');
    const { html } = await browser.get('/app');
    expect(html).toContain('Team “First” created. Go on with the next step.');
    expect(html).toContain('Fill First');
    const second = await browser.post('/app/teams', { name: 'Second' }, { from: '/app/teams' });
    expect(second.headers.get('location')).toMatch(/^\/app\/teams\/[0-9a-f-]{36}$/);
  });

  it('invite people with or without an account, change their roles, and remove them', async () => {
    const path = `/app/teams/${team.team_id}`;
    const person = await buildVisitor(app);
    await admin.post(`${path}/members`, { email: person.email, role: 'guest' }, { from: path });
    expect(await said(admin, path)).toBe(`${person.email} was invited. The invitation expires in 7 days.`);
    expect((await admin.get(path)).html).not.toContain(person.user_id);
    const browser = await signIn(app, person);
    const accept = /\/app\/invitations\/[0-9a-f-]+\/accept/.exec((await browser.get('/app')).html)?.[0] as string;
    await browser.post(accept, {}, { from: '/app' });
    expect(await said(browser, '/app/teams')).toBe('Welcome to the team.');
    await admin.post(`${path}/members/${person.user_id}`, { role: 'manager' }, { from: path });
    expect(await said(admin, path)).toContain('is now manager');
    await admin.post(`${path}/members/${person.user_id}/remove`, {}, { from: path });
    expect(await said(admin, path)).toContain('Removed');
    await admin.post(`${path}/members`, { email: 'new@test.example', role: 'member' }, { from: path });
    expect(await said(admin, path)).toBe('new@test.example was invited. The invitation expires in 7 days.');
    const again = await admin.post(`${path}/members`, { email: 'new@test.example', role: 'member' }, { from: path });
    expect(again.status).toBe(409);
    const revoke = new RegExp(`${path}/invitations/[0-9a-f-]+/revoke`).exec((await admin.get(path)).html)?.[0] as string;
    await admin.post(revoke, {}, { from: path });
    expect((await admin.get(path)).html).not.toContain('new@test.example<');
  });

  it('invite several people at once, or none of them when one address is refused', async () => {
    const path = `/app/teams/${team.team_id}`;
    const invite = (email: string) => admin.post(`${path}/members`, { email, role: 'member' }, { from: path });
    const invited = () =>
      app.services
        .db('invitations')
        .where({ team_id: team.team_id })
        .whereLike('email', '%@crew.example')
        .orderBy('email')
        .pluck('email');
    for (const [typed, status, reason] of [
      ['lee@crew.example, ana@crew', 422, '“ana@crew” is no email address'],
      [`lee@crew.example ${team.member.email}`, 409, `“${team.member.email}”: Already a member of this team`],
      [Array.from({ length: 21 }, (_, at) => `p${at}@crew.example`).join(), 422, 'at most 20 addresses'],
    ] as const) {
      const refused = await invite(typed);
      expect([refused.status, refused.html.includes(reason), await invited()]).toEqual([status, true, []]);
    }
    await invite('Lee <lee@crew.example>; ANA@crew.example\nlee@crew.example');
    expect(await said(admin, path)).toBe('2 people were invited. The invitations expire in 7 days.');
    expect(await invited()).toEqual(['ana@crew.example', 'lee@crew.example']);
  });

  it('invited users join by their own address; no other user sees it', async () => {
    const path = `/app/teams/${team.team_id}`;
    await admin.post(`${path}/members`, { email: 'later@test.example', role: 'member' }, { from: path });
    const person = await buildVisitor(app);
    await app.services.db('users').where({ user_id: person.user_id }).update({ email: 'later@test.example' });
    const browser = await signIn(app, { email: 'later@test.example' });
    const accept = /\/app\/invitations\/[0-9a-f-]+\/accept/.exec((await browser.get('/app/invitations')).html)?.[0] as string;
    // Home names the invitation first, and a team of their own as the other way.
    const home = (await browser.get('/app')).html;
    expect([home.includes(accept), home.includes('>begin a team of your own<'), home.includes('Create team')]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await browser.get('/app?steps=all')).html).toContain('Create team');
    const stranger = await signIn(app, await buildVisitor(app));
    await stranger.post(accept, {}, { from: '/app' });
    expect(await said(stranger, '/app/invitations')).toBe('Invitation not found');
    await browser.post(accept, {}, { from: '/app/invitations' });
    expect((await browser.get(path)).status).toBe(200);
  });

  it('show no controls to who may not use them, and refuse them all the same; the last admin stays', async () => {
    const path = `/app/teams/${team.team_id}`;
    const member = await signIn(app, team.member);
    const { html } = await member.get(path);
    expect(html).not.toContain('action="' + path + '/members"');
    await member.post(`${path}/members/${team.guest.user_id}`, { role: 'admin' }, { from: '/app' });
    expect(await said(member, path)).toContain('admin');
    const alone = await buildTeam(app);
    await givePasswords(app);
    const last = await signIn(app, alone.admin);
    await last.post(`/app/teams/${alone.team_id}/members/${alone.admin.user_id}/remove`, {}, { from: '/app' });
    expect((await last.get(`/app/teams/${alone.team_id}`)).status).toBe(200);
    expect((await (await signIn(app, await buildVisitor(app))).get(path)).status).toBe(403);
  });
});
