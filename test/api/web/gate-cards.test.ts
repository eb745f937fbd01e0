import { listMails } from '../../../api/mail/list-mails.js';
import { notifyApprovers } from '../../../api/runs/approvals/notify-approvers.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// What the page of a gate shows is what its actions do: every parameter, values as they are sent, names from the database.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.manager);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const gated = (...actions: object[]) => [GATE, ...actions] as never[];
/** Text as a person reads it: without tags. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
const cardOf = (html: string): string => textOf(/<article class="gate"[\s\S]*?<\/article>/.exec(html)?.[0] ?? '');

async function cards(run: { run_id: string }): Promise<{ queue: string; page: string; offers: boolean }> {
  const queue = (await browser.get('/app/approvals')).html;
  const page = (await browser.get(`/app/runs/${run.run_id}`)).html;
  return { queue: cardOf(queue), page: cardOf(page), offers: queue.includes(`/app/runs/${run.run_id}/approve`) };
}

it('a manual start that names a task by another title shows the title of the database', async () => {
  const event = { type: 'manual', title: 'Typo in footer', task: { task_id: task.task_id, title: 'Typo in footer' } };
  const close = { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } };
  const run = await buildRun(app, team, { actions: gated(close), fields: { trigger_type: 'manual', event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) {
    expect(card).toContain('task Rotate the keys');
    expect(card).not.toContain('Typo in footer');
  }
  const [row] = await db()('automation_runs').where({ run_id: run.run_id });
  const { actions } = await db()('automation_versions').where({ automation_id: run.automation_id }).first();
  const gate = { gate_index: 0, required_role: 'manager' as const, message: null, expires_at: new Date() };
  const ctx = {
    ...app.services,
    log: console,
    actor: { type: 'system' },
    requestId: row.correlation_id,
    correlationId: row.correlation_id,
    notifyRelay: () => {},
  } as never;
  await notifyApprovers(ctx, { ...row, actions }, gate, 'approval_requested');
  const mails = await listMails(app.services, team.manager.email);
  expect(mails).toHaveLength(1);
  expect(JSON.stringify(mails)).toContain('Rotate the keys');
  expect(JSON.stringify(mails)).not.toContain('Typo in footer');
});

it('all parameters of an action are shown, however many, also one that clears a field', async () => {
  const params = {
    task_id: task.task_id,
    title: 'New title',
    description: 'New words',
    priority: 'urgent',
    tags: ['one', 'two'],
    estimated_hours: 3,
    actual_hours: 41,
    position: 7,
    is_archived: true,
    due_date: null,
    assigned_to: null,
  };
  const run = await buildRun(app, team, { actions: gated({ type: 'update_task', params }) });
  const { queue, page, offers } = await cards(run);
  expect(offers).toBe(true);
  for (const card of [queue, page]) {
    for (const line of [
      'title New title',
      'description New words',
      'actual hours 41',
      'position 7',
      'is archived true',
      'due none',
    ])
      expect(card).toContain(line);
    expect(card).toContain('tags ["one","two"]');
  }
});

it('a value cannot forge its neighbours: it is filled in before it is printed', async () => {
  const event = { title: '1 EUR", "amount": "1' };
  const body = { what: '{{event.title}}', amount: 99_999 };
  const send = { type: 'http_request', params: { method: 'POST', url: 'https://pay.test/', body } };
  const run = await buildRun(app, team, { creator: team.admin, actions: gated(send), fields: { event } });
  const sent = JSON.stringify({ what: event.title, amount: 99_999 });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) expect(card).toContain(sent);
});

it('invisible and direction characters are written out', async () => {
  const event = { title: 'safe\u202Egnp.exe\u200B' };
  const say = { type: 'add_comment', params: { task_id: task.task_id, content: '{{event.title}}' } };
  const run = await buildRun(app, team, { actions: gated(say), fields: { event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) {
    expect(card).toContain('text safe⟨U+202E⟩gnp.exe⟨U+200B⟩');
    expect(card).not.toMatch(/[\u202E\u200B]/);
  }
});

it.each([
  ['a value is longer than a list shows', { content: 'x'.repeat(301) }, {}],
  ['the parameters are larger than a list shows', { content: 'y'.repeat(4_001) }, {}],
  ['a quoted value is', { content: '{{event.title}}' }, { title: 'z'.repeat(2_100) }],
])('the queue offers no yes where %s; the page of the run shows all of it', async (_what, params, event) => {
  const say = { type: 'add_comment', params: { task_id: task.task_id, ...params } };
  const run = await buildRun(app, team, { actions: gated(say), fields: { event } });
  const { queue, page, offers } = await cards(run);
  expect(offers).toBe(false);
  expect(queue).toContain('Open to decide');
  expect(page).toContain((event as { title?: string }).title ?? params.content);
  expect(page).toContain('Approve');
});

it('every action behind the gate is shown', async () => {
  const say = (at: number) => ({ type: 'add_comment', params: { task_id: task.task_id, content: `Line ${at}.` } });
  const run = await buildRun(app, team, { actions: gated(...Array.from({ length: 12 }, (_, at) => say(at))) });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) for (let at = 0; at < 12; at += 1) expect(card).toContain(`Line ${at}.`);
});

it('names of another team’s tasks and users stay unknown', async () => {
  const other = await buildTeam(app);
  const hidden = await buildTask(app, other, await buildProject(app, other), { title: 'Not yours' });
  const say = { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'x' } };
  const event = { task: { task_id: hidden.task_id, title: 'x' } };
  const run = await buildRun(app, team, { actions: gated(say), fields: { event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) {
    expect(card).not.toContain('Not yours');
    expect(card).toContain(hidden.task_id);
  }
});
