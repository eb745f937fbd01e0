import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Pages about one team begin with the team whose page the browser showed last.

let app: TestApp;
let first: TestTeam;
let second: TestTeam;
let browser: Browser;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  [first, second] = [await buildTeam(app), await buildTeam(app)];
  await app.services.db('memberships').insert({ team_id: second.team_id, user_id: first.manager.user_id, role: 'manager' });
  await givePasswords(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  browser = await signIn(app, first.manager);
});

const showsTeam = async (path: string, name: string): Promise<boolean> =>
  new RegExp(`<option value="${name}" selected`).test((await browser.get(path)).html);

it('follows the pages that are opened, for lists and new tasks', async () => {
  const ours = await buildProject(app, first, { name: 'Here' });
  const theirs = await buildProject(app, second, { name: 'There' });
  for (const [project, team] of [
    [theirs, second],
    [ours, first],
  ] as const) {
    await browser.get(`/app/projects/${project.project_id}`);
    for (const path of ['/app/projects', '/app/cycles', '/app/bulk'])
      expect([path, await showsTeam(path, team.team_id)]).toEqual([path, true]);
    const { html } = await browser.get('/app/tasks/new');
    const [, offered] = /<select id="new-task-project".*?<option value="([^"]+)"/s.exec(html) ?? [];
    expect(offered).toBe(project.project_id);
  }
  await browser.get(`/app/projects?team=${second.team_id}`);
  expect(await showsTeam('/app/cycles', second.team_id)).toBe(true);
});

it('does not follow a cookie that names a team of others, or none', async () => {
  const stranger = await buildTeam(app);
  for (const value of [stranger.team_id, 'x', '']) {
    browser.cookies.set('assent-team', value);
    const { status, html } = await browser.get('/app/projects');
    expect([status, html.includes(stranger.team_id)]).toEqual([200, false]);
  }
});
