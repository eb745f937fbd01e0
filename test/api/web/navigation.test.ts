import { actionsOf, TEAM_ACTIONS } from '../../../api/web/navigation/actions.js';
import { findDestinations } from '../../../api/web/navigation/find-destinations.js';
import { KEY_GROUPS } from '../../../api/web/navigation/keys.js';
import { navigationOf, PLACES, placesOf } from '../../../api/web/navigation/places.js';
import type { User } from '../../../api/identity/auth/schema.js';
import { PAGES } from '../../../api/web/pages.js';
import { findPage } from '../../../api/web/server/find-page.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

const TEAM = '0197a000-0000-7000-8000-000000000001';
const user = (role: string, more: Partial<User> = {}): User =>
  ({ role: 'user', impersonated_by: null, teams: [{ team_id: TEAM, key: 'HAR', name: 'Harbour', role }], ...more }) as User;

const pathOf = (address: string): string => address.split(/[?#]/)[0] ?? '';
const labels = (places: readonly { label: string }[]): string[] => places.map(({ label }) => label);

describe('the navigation', () => {
  it('has five entries, which everyone sees', () => {
    for (const me of [user('guest'), user('admin'), user('member', { teams: [] })])
      expect(labels(navigationOf(me, '/app').main)).toEqual(['Home', 'Approvals', 'Projects', 'Views', 'Cycles']);
  });

  it('leads to pages only, and every action does', () => {
    const addresses = [...PLACES, ...actionsOf(user('admin'))].map(({ path }) => pathOf(path));
    expect(addresses.length).toBeGreaterThan(PLACES.length + TEAM_ACTIONS.length);
    for (const address of addresses) expect(findPage(PAGES, 'GET', address).page.method).toBe('get');
  });

  it.each([
    ['slack', '/app/automations/new?template=post-to-slack'],
    ['discord', '/app/automations/new?template=deploy-release'],
    ['teams', '/app/automations/new?template=deploy-release'],
    ['github', `/app/teams/${TEAM}/code-host`],
    ['gitlab', `/app/teams/${TEAM}/code-host`],
  ])('finds by the name of a service: %s', (query, path) => {
    expect(findDestinations(user('admin'), query).actions.map((one) => one.path)).toContain(path);
  });

  it('offers only what the role in a team allows', () => {
    expect(labels(placesOf(user('member')))).not.toContain('Audit log');
    expect(labels(placesOf(user('admin')))).toContain('Audit log');
    expect(labels(actionsOf(user('guest')))).not.toContain('New cycle in Harbour');
    expect(labels(actionsOf(user('member')))).toContain('New cycle in Harbour');
    expect(labels(actionsOf(user('manager')))).not.toContain('Secrets of Harbour');
    expect(labels(placesOf(user('admin', { role: 'admin' })))).toContain('Administration');
    expect(labels(placesOf(user('admin', { role: 'admin', impersonated_by: 'x' })))).not.toContain('Administration');
  });

  it.each([
    ['/app', 'Home', 'page'],
    ['/app/approvals', 'Approvals', 'page'],
    ['/app/approvals/plan/1', 'Approvals', 'true'],
    ['/app/items/1', 'Projects', 'true'],
    ['/app/teams', 'Teams', 'page'],
    ['/app/automations/new', 'Automations', 'true'],
    ['/app/account/tokens', 'Access tokens', 'page'],
    ['/app/account/sessions', 'Account', 'true'],
    ['/app/runs/1', 'Runs', 'true'],
  ])('marks one place on %s: %s', (path, label, current) => {
    const { main, inbox, more, account } = navigationOf(user('admin'), path);
    const marked = [...main, inbox, ...more, ...account].filter((place) => place.current !== null);
    expect(marked.map((place) => [place.label, place.current])).toEqual([[label, current]]);
  });

  it('marks nothing on a page of no place', () => {
    const { main, more } = navigationOf(user('admin'), '/app/searching');
    expect([...main, ...more].filter(({ current }) => current !== null)).toEqual([]);
  });

  it('gives no key twice, and no key begins another', () => {
    const presses = PLACES.flatMap(({ keys }) => keys ?? []);
    expect(new Set(presses).size).toBe(presses.length);
    const single = presses.filter((keys) => !keys.includes(' '));
    expect(presses.filter((keys) => keys.includes(' ') && single.includes(keys[0] as string))).toEqual([]);
    const goTo = KEY_GROUPS.find(({ name }) => name === 'Go to');
    expect(goTo?.keys.map(({ does }) => does)).toContain('Cycles');
  });
});

describe('destinations', () => {
  it('match by the begins of words, in any order, the label first', () => {
    expect(labels(findDestinations(user('admin'), 'harb new').actions)).toEqual([
      'New project in Harbour',
      'New note in Harbour',
      'New cycle in Harbour',
    ]);
    expect(labels(findDestinations(user('admin'), 'SECR').actions)).toEqual(['Secrets of Harbour']);
    expect(labels(findDestinations(user('admin'), 'sprint').pages)).toEqual(['Cycles']);
    expect(findDestinations(user('admin'), 'ycles')).toEqual({ pages: [], actions: [] });
  });

  it('are named as people write them', () => {
    const first = (query: string) => labels(findDestinations(user('admin'), query).pages)[0];
    for (const label of labels(placesOf(user('admin')))) expect(first(`Go to ${label}`)).toBe(label);
    expect(['go to runs', 'open automations', 'import', 'show views'].map(first)).toEqual([
      'Runs',
      'Automations',
      'Export and import',
      'Views',
    ]);
    expect(labels(findDestinations(user('member'), 'dark theme').actions)).toEqual(['Theme']);
  });

  it('are six of a kind at most, however many teams there are', () => {
    const teams = Array.from({ length: 300 }, (_, at) => ({ team_id: TEAM, key: 'T', name: `Team ${at}`, role: 'admin' }));
    const { pages, actions } = findDestinations(user('admin', { teams }), '');
    expect([pages.length, actions.length]).toEqual([6, 6]);
    expect(labels(findDestinations(user('admin', { teams }), 'open 299').actions)).toEqual(['Open Team 299']);
  });
});

describe('the palette', () => {
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser;
  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
    await givePasswords(app);
    browser = await signIn(app, team.member);
  });
  afterAll(() => app.close());

  it('shows tasks that were opened last only to those who may read them, and only without a query', async () => {
    const own = await buildTeam(app);
    await givePasswords(app);
    const project = await buildProject(app, own);
    const task = await buildTask(app, own, project, { title: 'Recount the buoys' });
    const gone = await buildTask(app, own, project, { title: 'Sink the buoys' });
    await app.services.db('tasks').where({ task_id: gone.task_id }).update({ deleted_at: new Date() });
    const member = await signIn(app, own.guest);
    const stranger = await signIn(app, team.admin);
    const recent = [gone.task_id, task.task_id, 'no-such-task', project.project_id].join(',');
    const { html } = await member.get(`/app/palette?recent=${recent}`);
    expect(html).toContain('aria-label="Opened last"');
    expect([html.includes('Recount the buoys'), html.includes('Sink the buoys')]).toEqual([true, false]);
    expect((await member.get(`/app/palette?q=quay&recent=${recent}`)).html).not.toContain('Opened last');
    expect((await stranger.get(`/app/palette?recent=${recent}`)).html).not.toContain('Opened last');
    for (const odd of ['%00', 'a'.repeat(3_000), ','.repeat(40), '%F0'])
      expect((await member.get(`/app/palette?recent=${odd}`)).status).toBe(200);
  });

  it('is a part of a page with pages, actions and items, and keeps the notice for the page', async () => {
    const project = await buildProject(app, team, { name: 'Lighthouse' });
    await buildTask(app, team, project, { title: '<b>Lighthouse</b> lamp' });
    browser.cookies.set('assent-notice', 'e30');
    const { status, html } = await browser.get('/app/palette?q=lighthouse');
    expect(status).toBe(200);
    expect(html).not.toContain('<html');
    expect(html.match(/role="option"/g)).toHaveLength(2);
    expect(html).toContain('&lt;b&gt;Lighthouse');
    expect(html).toContain('data-said="2 results"');
    expect(browser.cookies.has('assent-notice')).toBe(true);
    expect((await browser.get('/app/palette?q=inbox')).html).toContain('href="/app/notifications"');
  });

  it('finds people of the own teams, and opens their open tasks', async () => {
    const own = await buildTeam(app);
    await givePasswords(app);
    const named = (id: string, display_name: string) => app.services.db('users').where({ user_id: id }).update({ display_name });
    await named(own.member.user_id, 'Anna-Lena <b>');
    await named(team.member.user_id, 'Anna-Lena Far');
    const project = await buildProject(app, own);
    await buildTask(app, own, project, { title: 'Hers', assigned_to: own.member.user_id });
    await buildTask(app, own, project, { title: 'Closed', assigned_to: own.member.user_id, status: 'done' });
    await buildTask(app, own, project, { title: 'Of nobody' });
    const guest = await signIn(app, own.guest);
    const { html } = await guest.get('/app/palette?q=LENA%20an');
    const [, href = ''] = /href="([^"]*)"[^>]*>.{0,400}?Open tasks of Anna-Lena &lt;b&gt;/s.exec(html) ?? [];
    expect(html).not.toContain('Far');
    const list = (await guest.get(href.replaceAll('&amp;', '&'))).html;
    expect([list.includes('>Hers<'), list.includes('>Closed<'), list.includes('>Of nobody<')]).toEqual([true, false, false]);
    for (const none of ['', '%25', '_', 'ena'])
      expect((await guest.get(`/app/palette?q=${none}`)).html).not.toContain('Anna-Lena');
    expect((await (await signIn(app, own.member)).get('/app/palette?q=anna')).html).toContain('My open tasks');
  });

  it('shows nothing of another team', async () => {
    const other = await buildTeam(app);
    await givePasswords(app);
    const secret = await buildProject(app, other, { name: 'Kraken' });
    const stranger = await signIn(app, other.member);
    expect((await stranger.get('/app/palette?q=kraken')).html).toContain(secret.project_id);
    const { html } = await browser.get('/app/palette?q=kraken');
    expect(html).toContain('data-said="Nothing matches."');
    expect(html).not.toContain(secret.project_id);
  });

  it('offers a task of the typed text in a project where the user may add one, and creates it where the user was', async () => {
    const project = await buildProject(app, team, { name: 'Quay' });
    const ask = async (who: Browser, q: string, project_id = project.project_id) =>
      (await who.get(`/app/palette?${String(new URLSearchParams({ q, project: project_id, back: '/app/cycles?team=x' }))}`)).html;
    const html = await ask(browser, 'new task: Fix <the> crane !high');
    expect(html).toContain('New task: Fix &lt;the&gt; crane !high');
    expect(html).not.toContain('data-unasked');
    expect(await ask(browser, 'crane')).toContain('data-unasked');
    const csrf = readCsrf(html) as string;
    const path = `/app/projects/${project.project_id}/tasks`;
    expect(html).toContain(`action="${path}"`);
    const created = await browser.post(path, { text: 'Fix the crane !high', back: '/app/cycles?team=x' }, { csrf });
    expect([created.status, created.headers.get('location')]).toEqual([303, '/app/cycles?team=x']);
    expect(await app.services.db('tasks').where({ project_id: project.project_id }).first()).toMatchObject({
      title: 'Fix the crane',
      priority: 'high',
    });
    const abroad = await browser.post(path, { text: 'Another', back: 'https://evil.example/app' }, { csrf });
    expect(abroad.headers.get('location')).toBe(`/app/projects/${project.project_id}`);
    // Guests, strangers, and projects that are none.
    const other = await buildTeam(app);
    await givePasswords(app);
    for (const who of [await signIn(app, team.guest), await signIn(app, other.member)])
      expect(await ask(who, 'new task: Mine')).not.toContain('New task');
    for (const none of ['', 'x', '019a9f00-0000-7000-8000-00000000dead'])
      expect(await ask(browser, 'new task: Mine', none)).not.toContain('New task');
    expect(await ask(browser, 'new task')).not.toContain('New task: <');
  });

  it.each(['', '%00', '%F0%9F', '((('])('bears the query %j', async (q) => {
    expect((await browser.get(`/app/palette?q=${q}`)).status).toBe(200);
  });

  it('is the search page without scripts', async () => {
    const { html } = await browser.get('/app/search?q=cycle');
    expect(html).toContain('Pages and actions');
    expect(html).toContain('href="/app/cycles"');
  });
});
