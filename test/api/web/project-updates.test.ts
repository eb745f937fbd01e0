import { NOTIFICATION_KINDS } from '../../../api/work/notifications/schema.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The updates of a project, as a browser without scripts posts them.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project_id: string;
let path: string;
const db = () => app.services.db;
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const follow = async (to: string, form: Record<string, string>) => {
  const answer = await browser.post(to, form, { from: path });
  return answer.status === 303 ? browser.get((answer.headers.get('location') ?? '').replace(/#.*/, '')) : answer;
};
const pill = (words: string) => new RegExp(`class="chip health[^>]*>${words} · <time[^>]*>now<`);

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  ({ project_id } = await buildProject(app, team, { name: 'Harbour' }));
  path = `/app/projects/${project_id}/updates`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

it('posts, edits, deletes and undoes an update; the project and the list show its health and age', async () => {
  expect((await browser.get(path)).html).toContain('No updates yet.');
  const posted = await follow(path, { health: 'at_risk', content: 'The *crane*\r\nis late' });
  expect(posted.html).toContain('Update posted');
  expect(posted.html).toContain('<em>crane</em>');
  for (const page of [
    path,
    '/app/projects',
    `/app/items/${project_id}`,
    `/app/projects/${project_id}`,
    `/app/projects/${project_id}/board`,
  ])
    expect((await browser.get(page)).html).toMatch(pill('At risk'));
  expect((await browser.get(`/app/items/${project_id}`)).html).toContain('<em>crane</em>');
  const row = await db()('project_updates').where({ project_id }).first();
  expect(row.content).toBe('The *crane*\nis late');
  const update_id = row.update_id as string;
  const saved = await follow(`${path}/edit`, { update_id, health: 'off_track', content: 'It fell' });
  expect(saved.html).toContain('Update saved');
  expect(saved.html).toMatch(pill('Off track'));
  const second = await follow(path, { health: 'on_track', content: 'Up again' });
  const undone = await follow('/app/undo', { undo: hidden(second.html, 'undo'), back: path });
  expect(undone.html).toContain('The change was undone');
  expect(undone.html).toMatch(pill('Off track'));
  expect((await follow(`${path}/delete`, { update_id })).html).toContain('Update deleted');
  expect((await browser.get('/app/projects')).html).not.toContain('chip health');
});

it('keeps what was typed into a form that is refused', async () => {
  const blank = await browser.post(path, { health: 'off_track', content: ' ' }, { from: path });
  expect(blank.status).toBe(422);
  expect(blank.html).toContain('<option value="off_track" selected>');
  await follow(path, { health: 'on_track', content: 'First words' });
  const { update_id } = await db()('project_updates').where({ project_id }).first();
  const long = await browser.post(`${path}/edit`, { update_id, health: 'at_risk', content: 'x'.repeat(5_001) }, { from: path });
  expect(long.status).toBe(422);
  expect(long.html).toContain(`id="u-${update_id}-content"`);
  expect(long.html).toContain('x'.repeat(5_001));
  expect(await db()('project_updates').where({ update_id }).first()).toMatchObject({ content: 'First words' });
});

it('pages older ones, offers an author theirs and a manager the deletion of any, and a guest reads', async () => {
  for (let at = 0; at < 22; at += 1)
    await app.as(team.member).post(`/api/projects/${project_id}/updates`, { health: 'on_track', content: `Number ${at}` });
  const { html } = await browser.get(path);
  expect([html.includes('Number 21'), html.includes('Number 1<')]).toEqual([true, false]);
  const older = /href="([^"]+)" rel="next"/.exec(html)?.[1] ?? '';
  expect((await browser.get(older)).html).toMatch(/Number 1<[^]*Number 0</);
  const [guest, manager] = [await signIn(app, team.guest), await signIn(app, team.manager)];
  const read = (await guest.get(path)).html;
  expect([read.includes('Number 21'), read.includes('Post an update'), read.includes('/updates/delete')]).toEqual([
    true,
    false,
    false,
  ]);
  const managed = (await manager.get(path)).html;
  expect([managed.includes('/updates/delete'), managed.includes('/updates/edit')]).toEqual([true, false]);
  const csrf = hidden(read, '_csrf');
  expect((await guest.post(path, { health: 'on_track', content: 'x' }, { csrf })).status).toBe(403);
});

it('the inbox draws a notification of every kind, and leads from one of an update to the updates', async () => {
  const { user_id } = team.manager;
  const row = { user_id, team_id: team.team_id, message: 'Something happened' };
  await db()('notifications').insert(NOTIFICATION_KINDS.map((kind) => ({ ...row, kind })));
  await db()('notifications').where({ user_id, kind: 'project_updated' }).update({ item_id: project_id });
  const inbox = await (await signIn(app, team.manager)).get('/app/notifications');
  expect(inbox.status).toBe(200);
  for (const label of ['Message', 'Run ended', 'Change request']) expect(inbox.html).toContain(`${label} ·`);
  expect(inbox.html).toContain(`href="/app/projects/${project_id}/updates"`);
});
