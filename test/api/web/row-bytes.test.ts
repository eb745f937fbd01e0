import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// What a row of a list offers, and how much of the page it takes.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let path: string;
const MAX_BYTES = 100_000;

const create = async (rows: Record<string, unknown>[]) => {
  const { project_id } = await buildProject(app, team);
  path = `/app/projects/${project_id}`;
  await app.as(team.member).post(
    '/api/tasks/bulk',
    rows.map((row, at) => ({ title: `Grease the wheels of the second crane in the harbour ${at}`, project_id, ...row })),
  );
};
/** Names of the choosers of each row: of a field without a value, its label. */
const offers = (html: string): string[][] =>
  html
    .split('<li id="row-')
    .slice(1)
    .map((row) =>
      [...row.matchAll(/name="pick" value="([a-z]+):[^"]*" class="chip ([^"]*)" title="([^"]+)"(?: aria-label="([^"]+)")?/g)].map(
        ([, act, , , label = '']) => `${act} ${label}`.trim(),
      ),
    );

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});
afterAll(() => app.close());

it('a row offers each of its fields, also one without a value, by the form of the page', async () => {
  await create([{ priority: 'high', due_date: '2031-05-01', assigned_to: team.admin.user_id }, { priority: 'none' }]);
  const { html } = await browser.get(`${path}?sort=title`);
  expect(offers(html)).toEqual([
    ['priority', 'due', 'assignee', 'status'],
    ['priority No priority', 'due No due date', 'assignee Nobody is assigned', 'status'],
  ]);
  const [, task] = /value="due:1:([^"]+)" class="chip none due"/.exec(html) ?? [];
  const chooser = await browser.get(`/app/tasks/change?pick=due:1:${task as string}&back=${encodeURIComponent(path)}`);
  expect([chooser.status, chooser.html.includes('Due tomorrow')]).toEqual([200, true]);
});

it('who only reads is offered nothing, and a view shows the columns that it has', async () => {
  await create([{}]);
  const guest = await signIn(app, team.guest);
  expect(offers((await guest.get(path)).html)).toEqual([[]]);
  const view = { name: 'All', entity_type: 'task', layout: 'list', columns: ['title', 'due_date'], team_id: team.team_id };
  const { body } = await app.as(team.member).post('/api/saved-views', view);
  const { html } = await browser.get(`/app/views/${body.view_id as string}`);
  expect(offers(html).at(-1)).toEqual(['due No due date', 'status']);
});

it.each([
  [
    'every field',
    () => ({ priority: 'urgent', due_date: '2031-05-01', assigned_to: team.admin.user_id, tags: ['deck', 'paint'] }),
  ],
  ['no field', () => ({})],
])('a page of fifty rows with %s is small', async (_, fields) => {
  await create(Array.from({ length: 50 }, fields));
  const { html } = await browser.get(path);
  expect(offers(html)).toHaveLength(50);
  expect(Buffer.byteLength(html)).toBeLessThan(MAX_BYTES);
});
