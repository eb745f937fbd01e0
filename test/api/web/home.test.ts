import { groupByDue } from '../../../api/web/pages/work/group-by-due.js';
import type { User } from '../../../api/identity/auth/schema.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRequest } from '../../factories/requests.js';
import { buildRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
});
afterAll(() => app.close());

const DAY_MS = 86_400_000;
/** A date so many days from now, in UTC. */
const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
/** The texts of a page in the order in which they stand there. */
const inOrder = (html: string, texts: string[]) =>
  texts.filter((text) => html.includes(text)).toSorted((a, b) => html.indexOf(a) - html.indexOf(b));

it('shows what waits, then twenty tasks in groups with a link to all of them, then the runs', async () => {
  const project = await buildProject(app, team);
  const of = { assigned_to: team.manager.user_id };
  await buildTask(app, team, project, { ...of, title: 'No day' });
  for (let at = 1; at <= 18; at += 1)
    await buildTask(app, team, project, { ...of, title: `Later ${at}`, due_date: day(30 + at) });
  await buildTask(app, team, project, { ...of, title: 'Of today', due_date: day(0) });
  await buildTask(app, team, project, { ...of, title: 'Too late', due_date: day(-3) });
  await buildRun(app, team, { fields: { automation_name: 'Release' } });
  const { html } = await (await signIn(app, team.manager)).get('/app');
  const heads = [
    'Waiting for you',
    'Your tasks',
    '>Overdue <',
    'Too late',
    '>Today <',
    'Of today',
    '>Later <',
    'Later 18',
    'Recent runs',
  ];
  expect(inOrder(html, heads)).toEqual(heads);
  expect([html.includes('>No day<'), html.includes('>No due date <')]).toEqual([false, false]);
  expect(html).toContain('<a href="/app/views/mine">All 21 of your tasks</a>');
  // The last group goes on in the list of all tasks, so its number is not known here.
  expect(html.match(/<h2>(Overdue|Today|Later) <span class="aside">(\d*)/g)?.map((head) => head.replace(/.*>/, ''))).toEqual([
    '1',
    '1',
    '',
  ]);
});

it('shows change requests to decide as it shows gates, nearest deadline first, and three of both', async () => {
  const own = await buildTeam(app);
  await givePasswords(app);
  const manager = await signIn(app, own.manager);
  const soon = await buildRequest(app, own, own.member, { title: 'Deploy at noon', expires_in_seconds: 600 });
  const run = await buildRun(app, own, { expiresIn: 3600 });
  const late = await buildRequest(app, own, own.member, { title: 'Deploy tonight' });
  // What one asks for is for others to decide.
  await buildRequest(app, own, own.manager, { title: 'Mine', expires_in_seconds: 300 });
  await buildRequest(app, own, own.member, { title: 'One too many', expires_in_seconds: 90_000 });
  const { html } = await manager.get('/app');
  const ids = [soon.request_id, run.run_id, late.request_id];
  expect([...html.matchAll(/<article class="gate" id="(?:gate|request)-([\da-f-]+)"/g)].map(([, id]) => id)).toEqual(ids);
  expect(html).toContain('<a class="more" href="/app/approvals">all 4</a>');
  const form = { request_hash: soon.request_hash, back: '/app' };
  const answer = await manager.post(`/app/approvals/request/${soon.request_id}/approve`, form, { from: '/app' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app']);
  expect((await manager.get('/app')).html).not.toContain(`id="request-${soon.request_id}"`);
  expect((await (await signIn(app, own.guest)).get('/app')).html).not.toContain('Deploy tonight');
});

it('says in one line that nothing waits', async () => {
  const { html } = await (await signIn(app, team.guest)).get('/app');
  expect(html).toContain('<p class="fine">No approvals are waiting for you.</p>');
  expect(html).toContain('No open tasks.');
});

it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC'])('counts days in %s', (timezone) => {
  const me = { preferences: { timezone, week_start: 'monday', locale: 'en', theme: 'auto' }, teams: [] } as unknown as User;
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(new Date());
  const due = (days: number) => ({ due_date: new Date(Date.parse(today) + days * DAY_MS).toISOString().slice(0, 10) });
  const { rows } = groupByDue(me, [due(-1), due(0), due(7)], 3);
  expect(rows.map(({ when_due }) => when_due)).toEqual(['overdue', 'today', 'later']);
});

it('puts the days that are left of a week together', () => {
  const me = {
    preferences: { timezone: 'UTC', week_start: 'monday', locale: 'en', theme: 'auto' },
    teams: [],
  } as unknown as User;
  const weekday = (new Date().getUTCDay() + 6) % 7;
  const tasks = [1, 2, 3, 4, 5, 6, 7].map((days) => ({ due_date: day(days) }));
  const { rows } = groupByDue(me, [...tasks, { due_date: null }], 8);
  expect(rows.map(({ when_due }) => when_due)).toEqual([
    ...Array.from({ length: 6 - weekday }, () => 'week'),
    ...Array.from({ length: 1 + weekday }, () => 'later'),
    'none',
  ]);
});
