import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The form of a new task, which asks for the project.

let app: TestApp;
let team: TestTeam;
let other: TestTeam;
let browser: Browser;
let first: { project_id: string };
let second: { project_id: string };
const tasks = (title: string) => app.services.db('tasks').where({ title });
const chosen = (html: string): string | undefined => /<option value="([^"]*)" selected>/.exec(html)?.[1];
const options = (html: string): string[] => [...html.matchAll(/<option value="([^"]*)"/g)].map(([, value = '']) => value);

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  other = await buildTeam(app);
  first = await buildProject(app, team);
  second = await buildProject(app, team);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});
afterAll(() => app.close());

it('offers the active projects to which the user may write, the given one first', async () => {
  const { user_id } = team.member;
  const [read, written] = [await buildTeam(app), await buildTeam(app)];
  await app.services.db('memberships').insert([
    { team_id: read.team_id, user_id, role: 'guest' },
    { team_id: written.team_id, user_id, role: 'member' },
  ]);
  await buildProject(app, read);
  const elsewhere = await buildProject(app, written);
  const old = await buildProject(app, team);
  await app.services.db('projects').where(old).update({ status: 'archived' });
  const { html } = await browser.get('/app/tasks/new');
  expect(options(html).toSorted()).toEqual([first, second, elsewhere].map(({ project_id }) => project_id).toSorted());
  expect([html.match(/<optgroup /g)?.length, chosen(html)]).toEqual([2, undefined]);
  expect(chosen((await browser.get(`/app/tasks/new?project=${second.project_id}`)).html)).toBe(second.project_id);
  expect((await browser.get('/app/tasks/new?project=nonsense')).status).toBe(200);
  await app.services.db('memberships').where({ user_id }).whereIn('team_id', [read.team_id, written.team_id]).del();
});

it('adds a task from one line, says so with Undo, and goes back to where it was asked for', async () => {
  const form = { project_id: second.project_id, text: 'Order bolts !high', back: '/app/cycles' };
  const added = await browser.post('/app/tasks/new', form);
  expect([added.status, added.headers.get('location')]).toEqual([303, '/app/cycles']);
  const { html } = await browser.get('/app/cycles');
  expect([html.includes('Added “Order bolts” · high'), html.includes('name="undo"')]).toEqual([true, true]);
  expect(await tasks('Order bolts')).toEqual([expect.objectContaining({ ...second, priority: 'high' })]);
  const plain = await browser.post('/app/tasks/new', { ...form, text: 'Again', back: 'https://evil.example' });
  expect(plain.headers.get('location')).toBe(`/app/projects/${second.project_id}`);
});

it('shows a refused line again, with its project', async () => {
  const wrong = await browser.post('/app/tasks/new', { project_id: second.project_id, text: '@none x', back: '/app/cycles' });
  expect([wrong.status, chosen(wrong.html)]).toEqual([422, second.project_id]);
  expect(wrong.html).toContain('value="@none x"');
  expect(wrong.html).toContain('name="back" value="/app/cycles"');
  for (const form of [{ text: 'x' }, { project_id: 'nonsense', text: 'x' }, { project_id: first.project_id }])
    expect((await browser.post('/app/tasks/new', form)).status).toBeGreaterThanOrEqual(400);
  expect(await tasks('x')).toEqual([]);
});

it('takes a description, and shows one that is too long at its field, with all that was typed', async () => {
  const form = { project_id: second.project_id, text: 'Paint it', description: 'In *red*' };
  expect((await browser.post('/app/tasks/new', form)).status).toBe(303);
  expect(await tasks('Paint it')).toEqual([expect.objectContaining({ description: 'In *red*' })]);
  for (const [text, sent, stored] of [
    ['Two lines', 'a\r\nb', 'a\nb'],
    ['Nothing', '', null],
    ['Blanks', ' \r\n ', null],
  ] as const) {
    expect((await browser.post('/app/tasks/new', { ...form, text, description: sent })).status).toBe(303);
    expect(await tasks(text)).toEqual([expect.objectContaining({ description: stored })]);
  }
  const long = await browser.post('/app/tasks/new', { ...form, text: 'Paint more', description: 'x'.repeat(50_001) });
  expect([
    long.status,
    long.html.includes('value="Paint more"'),
    /aria-invalid="true" aria-describedby="h-new-task-description"/.test(long.html),
  ]).toEqual([422, true, true]);
  expect(/id="f-text-any"[^>]*aria-invalid/.test(long.html)).toBe(false);
  expect(await tasks('Paint more')).toEqual([]);
});

it('creates nothing in the projects of others, and reads no line there', async () => {
  const theirs = await buildProject(app, other);
  const form = { ...theirs, text: 'Sneaked' };
  expect((await browser.post('/app/tasks/new', form)).status).toBe(403);
  expect((await browser.get(`/app/tasks/line?project_id=${theirs.project_id}&text=x`)).status).toBe(403);
  const guest = await signIn(app, team.guest);
  const { html } = await guest.get('/app/tasks/new');
  expect([html.includes('no project that takes a task of yours'), html.includes('href="/app/tasks/new"')]).toEqual([true, false]);
  expect((await guest.post('/app/tasks/new', { ...first, text: 'Sneaked' }, { from: '/app/account' })).status).toBe(403);
  expect(await tasks('Sneaked')).toEqual([]);
});

it('spells a tag as tasks of the project have it, and shows it so before the task is added', async () => {
  await buildTask(app, team, second, { tags: ['Bug'] });
  const line = await browser.get(`/app/tasks/line?project_id=${second.project_id}&text=${encodeURIComponent('Leak #bug #new')}`);
  expect([line.html.includes('#Bug'), line.html.includes('#bug')]).toEqual([true, false]);
  const path = `/app/projects/${second.project_id}`;
  await browser.post(`${path}/tasks`, { text: 'Leak #bug #BUG #new' }, { from: path });
  const made = await app.services.db('tasks').where({ project_id: second.project_id, title: 'Leak' }).first();
  expect([made.tags, made.priority]).toEqual([['Bug', 'new'], 'none']);
});
