import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// A task that nobody completed: pages offer Canceled and Duplicate beside the four statuses, and show them by their own words.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let taskId: string;
let base: string;
const row = () => app.services.db('tasks').where({ task_id: taskId }).first();
const state = async () => {
  const { status, resolution } = await row();
  return [status, resolution];
};
const post = (path: string, form: Record<string, string>, from = base) => browser.post(path, form, { from });
const save = async (status: string, was: string) => {
  const { version } = await row();
  return post(`${base}/task`, { version: String(version), status, 'was-status': was });
};
const CHIP = '<span class="chip canceled">Canceled</span>';
/** The same in a row, where it is chosen. */
const CHOOSER = /<button [^>]*class="chip canceled"[^>]*>Canceled<\/button>/;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  taskId = (await buildTask(app, team, project, { title: 'Paint the crane' })).task_id;
  base = `/app/items/${taskId}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

it('the page of a task offers them, saves them, and goes back to any status', async () => {
  const page = (await browser.get(base)).html;
  for (const word of ['To do', 'In progress', 'In review', 'Done', 'Canceled', 'Duplicate'])
    expect(page).toContain(`>${word}</option>`);
  await save('canceled', 'todo');
  expect(await state()).toEqual(['done', 'canceled']);
  const shown = (await browser.get(base)).html;
  expect(shown).toContain('<option value="canceled" selected>');
  expect(shown).toContain('name="was-status" value="canceled"');
  expect(shown).toContain(CHIP);
  expect(shown).toContain('changed status from To do to Canceled');
  await save('done', 'canceled');
  expect(await state()).toEqual(['done', null]);
  expect((await browser.get(base)).html).toContain('changed status from Canceled to Done');
  await save('duplicate', 'done');
  await save('in_progress', 'duplicate');
  expect(await state()).toEqual(['in_progress', null]);
  expect((await browser.get(base)).html).toContain('changed status from Duplicate to In progress');
});

it('a form whose status another person has changed meanwhile is refused', async () => {
  await save('canceled', 'todo');
  const { version } = await row();
  await app.as(team.admin).patch(`/api/tasks/${taskId}`, { resolution: 'duplicate' });
  const answer = await post(`${base}/task`, { version: String(version), status: 'done', 'was-status': 'canceled' });
  expect(answer.status).toBe(409);
  expect(await state()).toEqual(['done', 'duplicate']);
});

it('ticked tasks, the list with its filter, and the search use them', async () => {
  const list = `/app/projects/${project.project_id}`;
  await post('/app/tasks/change', { task: `1:${taskId}`, status: 'canceled' }, list);
  expect(await state()).toEqual(['done', 'canceled']);
  expect((await browser.get(`${list}?show=canceled`)).html).toMatch(CHOOSER);
  expect((await browser.get(`${list}?show=done`)).html).toMatch(CHOOSER);
  expect((await browser.get(`${list}?show=duplicate`)).html).not.toContain('Paint the crane');
  expect((await browser.get('/app/search?q=crane')).html).toMatch(CHOOSER);
});

it('the board keeps four columns; a card in Done says it, and moves like any other', async () => {
  const board = `/app/projects/${project.project_id}/board`;
  await save('canceled', 'todo');
  const { html } = await browser.get(board);
  expect(html.match(/data-status=/g)).toHaveLength(4);
  expect(html).toContain(`<span class="gone">Paint the crane</span></a> ${CHIP}`);
  const { version } = await row();
  await post('/app/tasks/move', { to: `in_review:${version}:${taskId}`, back: board }, board);
  expect(await state()).toEqual(['in_review', null]);
});

it('Undo brings back what a task was', async () => {
  await save('canceled', 'todo');
  const { version } = await row();
  const answer = await post('/app/tasks/change', { task: `${version}:${taskId}`, change: 'status:todo', back: base });
  expect(await state()).toEqual(['todo', null]);
  const packed = /name="undo" value="([^"]*)"/.exec((await browser.get(answer.headers.get('location') ?? '')).html)?.[1] ?? '';
  await post('/app/undo', { undo: packed, back: base });
  expect(await state()).toEqual(['done', 'canceled']);
});

it('the activity says which tags and which cycle a task got', async () => {
  const cycle = await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring <b>' });
  const patch = (fields: object) => app.as(team.member).patch(`/api/tasks/${taskId}`, fields);
  await patch({ tags: ['a<b', 'old'] });
  await patch({ tags: ['a<b', 'new'], priority: 'high' });
  await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [taskId] });
  const { html } = await browser.get(base);
  expect(html).toContain('changed tags (added #a&lt;b #old)');
  expect(html).toMatch(/changed (priority from medium to high, )?tags \(added #new, removed #old\)/);
  expect(html).toContain('changed cycle from none to “Spring &lt;b&gt;”');
  const { body } = await app.as(team.member).get(`/api/activity?entity_id=${taskId}`);
  expect(body[1].changes).toMatchObject({ tags: { from: ['a<b', 'old'], to: ['a<b', 'new'] } });
  // A completed cycle is no choice, but it is still named.
  await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/start`, {});
  await patch({ status: 'todo' });
  const completed = await app.as(team.admin).post(`/api/sprints/${cycle.cycle_id}/complete`, { rollover_to: 'backlog' });
  expect(completed.status).toBe(200);
  expect((await browser.get(base)).html).toContain('changed cycle from none to “Spring &lt;b&gt;”');
});
