import { listMails } from '../../../api/platform/mail/list-mails.js';
import { mailNotices } from '../../../api/work/notifications/mail-notices.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { createCycle } from '../work/cycles/support.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Wherever a page lists tasks, it shows what people call them.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;
let taskId: string;
let called: string;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  await givePasswords(app);
  browser = await signIn(app, team.member);
  const fields = { title: 'Paint the quay', status: 'in_review', tags: ['paint'], assigned_to: team.member.user_id };
  const task = await buildTask(app, team, project, fields);
  taskId = task.task_id;
  await app.services.db('teams').where({ team_id: team.team_id }).update({ key: 'QUA' });
  const { number } = await app.services.db('tasks').where({ task_id: taskId }).first();
  called = `QUA-${number}`;
});
afterAll(() => app.close());

/** What the page shows of rows that lead to the task, as text. */
async function rowOn(path: string): Promise<string> {
  const { html } = await browser.get(path);
  const rows = html.split(/<li\b|<label>/).filter((row) => row.includes(taskId));
  return rows.join(' ');
}

it('home and a cycle show name, tags and the colour of the status', async () => {
  const home = await rowOn('/app');
  for (const part of [`>${called}<`, 'Harbour · #paint', 'chip in_review']) expect(home).toContain(part);
  const { cycle_id } = await createCycle(app.as(team.member), project);
  const path = `/app/cycles/${cycle_id}`;
  const backlog = await rowOn(path);
  for (const part of [called, 'You', '#paint', 'chip in_review']) expect(backlog).toContain(part);
  await browser.post(`${path}/tasks`, { task_ids: taskId }, { from: path });
  const row = await rowOn(path);
  for (const part of [`>${called}<`, '> You</button>', '#paint', 'chip in_review']) expect(row).toContain(part);
});

it.each(['task', 'work_item'])('a view of %s shows them too, and the name of its project', async (entity_type) => {
  const made = await app.as(team.member).post('/api/saved-views', {
    name: 'Quay',
    entity_type,
    team_id: team.team_id,
    is_shared: true,
    filters: { project_id: [project.project_id] },
  });
  const { view_id } = made.body.data ?? made.body;
  const path = `/app/views/${view_id}`;
  const row = await rowOn(path);
  for (const part of [`>${called}<`, 'chip in_review', ...(entity_type === 'task' ? ['> You</button>', '#paint'] : [])])
    expect(row).toContain(part);
  expect((await browser.get(path)).html).toContain('<bdi>In Harbour</bdi>');
});

it('a view names no project of a team that the reader is not in', async () => {
  const other = await buildTeam(app);
  const secret = await buildProject(app, other, { name: 'Secret harbour' });
  const filters = { project_id: [secret.project_id] };
  const made = await app
    .as(team.member)
    .post('/api/saved-views', { name: 'Theirs', entity_type: 'task', team_id: team.team_id, filters });
  const { html } = await browser.get(`/app/views/${(made.body.data ?? made.body).view_id}`);
  expect([html.includes('<bdi>In another project</bdi>'), html.includes('Secret harbour')]).toEqual([true, false]);
});

it('results of a search, those of the palette and relations show the name', async () => {
  const far = await buildTask(app, team, project, { title: 'Buy the colour' });
  const relation = { source_id: far.task_id, target_id: taskId, relation_type: 'blocks' };
  expect((await app.as(team.member).post('/api/work-items/relations', relation)).status).toBe(201);
  expect(await rowOn('/app/search?q=quay')).toContain(`>${called}<`);
  expect((await browser.get('/app/palette?q=quay')).html).toContain(`${called} Paint the quay`);
  expect(await rowOn(`/app/items/${far.task_id}`)).toContain(`>${called}<`);
});

it('the inbox, a decision and an email name the task', async () => {
  const { db } = app.services;
  const close = { type: 'set_task_status', params: { task_id: taskId, status: 'done' } };
  const run = await buildRun(app, team, { actions: [GATE, close, close] as never[] });
  const manager = await signIn(app, team.manager);
  const { html } = await manager.get(`/app/approvals/gate/${run.run_id}`);
  expect(html.match(/<h1[^]*?<\/h1>/)?.[0]).toContain(`${called} “<bdi>Paint the quay`);
  expect(html.match(new RegExp(`>${called}</span> <bdi>`, 'g'))).toHaveLength(2);
  const about = { user_id: team.member.user_id, team_id: team.team_id, item_id: taskId, kind: 'assigned' };
  await db('notifications').insert({ ...about, message: 'Ada assigned you “Paint the quay”', mail_at: new Date(0) });
  const { html: inbox } = await browser.get('/app/notifications');
  expect(inbox).toContain(`>${called}</span> <a href="/app/items/${taskId}">Paint the quay`);
  await mailNotices(app.services);
  const [mail] = await listMails(app.services, team.member.email);
  expect(mail?.text).toContain(`${called}: Ada assigned you “Paint the quay”`);
});
