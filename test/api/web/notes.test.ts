import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// Notes, as a browser without scripts writes them.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;
const notes = () => app.services.db('items').where({ team_id: team.team_id });
const location = (answer: { headers: Headers }): string => answer.headers.get('location') ?? '';

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

it('are created in a project or a team, listed, searched, and edited on their page with a version', async () => {
  const form = { title: 'Minutes', content: 'One\r\ntwo', team_id: team.team_id, project_id: project.project_id };
  const at = location(await browser.post('/app/notes', form));
  expect(await notes().first()).toMatchObject({
    title: 'Minutes',
    content: 'One\ntwo',
    project_id: project.project_id,
    item_type: 'note',
  });
  await browser.post('/app/notes', { ...form, title: 'Of the team', project_id: '' });
  const { html } = await browser.get('/app/notes');
  expect([html.includes('Minutes'), html.includes('Of the team'), html.includes('Harbour ·')]).toEqual([true, true, true]);
  const ofProject = (await browser.get(`/app/notes?project=${project.project_id}`)).html;
  expect([ofProject.includes('Minutes'), ofProject.includes('>Of the team<')]).toEqual([true, false]);
  expect((await browser.get('/app/notes?q=TWO')).html).toContain('Minutes');
  expect((await browser.get('/app/notes?q=nowhere')).html).toContain('No note has these words.');
  const edited = await browser.post(`${at}/note`, { title: 'Minutes', content: 'Three', version: '1' }, { from: at });
  expect(edited.status).toBe(303);
  const late = await browser.post(`${at}/note`, { title: 'Minutes', content: 'Typed late', version: '1' }, { from: at });
  expect([late.status, late.html.includes('Typed late')]).toEqual([409, true]);
  expect(await notes().where({ title: 'Minutes' }).first('content')).toEqual({ content: 'Three' });
});

it('are reached from the project, the team and the palette', async () => {
  const about = (await browser.get(`/app/items/${project.project_id}`)).html;
  expect(about).toContain(`href="/app/notes?project=${project.project_id}#h-new"`);
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain(`href="/app/notes?team=${team.team_id}"`);
  expect((await browser.get('/app/palette?q=new note')).html).toContain(`href="/app/notes?team=${team.team_id}#h-new"`);
});

it('keep what was typed in a refused form', async () => {
  const wrong = await browser.post('/app/notes', { title: ' ', content: 'Kept text', team_id: team.team_id });
  expect([wrong.status, wrong.html.includes('Kept text')]).toEqual([422, true]);
  const long = await browser.post('/app/notes', { title: 'Long', content: 'x'.repeat(102_401), team_id: team.team_id });
  expect(long.status).toBe(422);
  expect(await notes()).toEqual([]);
});

it('are not created by guests, by strangers, in a project of another team, or without the token of the form', async () => {
  const other = await buildTeam(app);
  const abroad = await buildProject(app, other);
  await givePasswords(app);
  const form = { title: 'Sneaky', content: '', team_id: team.team_id };
  for (const who of [await signIn(app, team.guest), await signIn(app, other.member)]) {
    const csrf = readCsrf((await who.get('/app')).html) ?? null;
    expect((await who.post('/app/notes', form, { csrf })).status).toBe(403);
  }
  expect((await (await signIn(app, team.guest)).get('/app/notes')).html).not.toContain('Create note');
  expect((await browser.get(`/app/notes?project=${abroad.project_id}`)).status).toBe(403);
  expect((await browser.get(`/app/notes?team=${other.team_id}`)).html).toContain('No notes yet.');
  expect((await browser.post('/app/notes', { ...form, project_id: abroad.project_id })).status).toBeGreaterThanOrEqual(400);
  expect((await browser.post('/app/notes', form, { csrf: null })).status).toBe(403);
  expect(await app.services.db('items').where({ title: 'Sneaky' })).toEqual([]);
});
