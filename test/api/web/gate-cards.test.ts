import { listMails } from '../../../api/platform/mail/list-mails.js';
import { notifyApprovers } from '../../../api/automation/runs/approvals/asking/notify-approvers.js';
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
const toText = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
const buildCard = (html: string, id = ''): string =>
  toText(new RegExp(`<article class="gate" id="gate-${id}[\\s\\S]*?</article>`).exec(html)?.[0] ?? '');

async function cards(run: { run_id: string }): Promise<{ queue: string; page: string; offers: boolean }> {
  const queue = (await browser.get('/app/approvals')).html;
  const page = (await browser.get(`/app/runs/${run.run_id}`)).html;
  return {
    queue: buildCard(queue, run.run_id),
    page: buildCard(page),
    offers: queue.includes(`/app/runs/${run.run_id}/approve`),
  };
}

it('a manual start that names a task by another title shows the title of the database', async () => {
  const event = { type: 'manual', title: 'Typo in footer', task: { task_id: task.task_id, title: 'Typo in footer' } };
  const close = { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } };
  const run = await buildRun(app, team, { actions: gated(close), fields: { trigger_type: 'manual', event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) {
    expect(card).toMatch(/Runs if approved.* Rotate the keys .*status from To do to Done/);
    expect(card).not.toContain('Typo in footer');
  }
  const [row] = await db()('automation_runs').where({ run_id: run.run_id });
  const { actions } = await db()('automation_versions').where({ automation_id: run.automation_id }).first();
  const [{ staged, staged_hash }] = await db()('gates').where({ run_id: run.run_id });
  const gate = { staged, staged_hash, required_role: 'manager' as const, message: null, expires_at: new Date() };
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
      'title from Rotate the keys to New title',
      'description New words',
      'actual hours from 0 to 41',
      'position 7',
      'archived from false to true',
      'due date none',
      'assigned to none',
    ])
      expect(card).toContain(line);
    expect(card).toContain('tags one, two');
  }
});

it('a value cannot forge its neighbours: it is filled in before it is printed', async () => {
  const event = { title: '1 EUR", "amount": "1' };
  const body = { what: '{{event.title}}', amount: 99_999 };
  const send = { type: 'http_request', params: { method: 'POST', url: 'https://pay.test/', body } };
  const run = await buildRun(app, team, { creator: team.admin, actions: gated(send), fields: { event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) expect(card).toContain(`body · amount 99999 body · what ${event.title}`);
});

it('invisible and direction characters are written out', async () => {
  const event = { title: 'safe\u202Egnp.exe\u200B' };
  const say = { type: 'add_comment', params: { task_id: task.task_id, content: '{{event.title}}' } };
  const run = await buildRun(app, team, { actions: gated(say), fields: { event } });
  const { queue, page } = await cards(run);
  for (const card of [queue, page]) {
    expect(card).toContain('content safe⟨U+202E⟩gnp.exe⟨U+200B⟩');
    expect(card).not.toMatch(/[\u202E\u200B]/);
  }
});

it.each([
  ['a value of the automation', '{{event.title}} {{event.title}} {{event.title}}'],
  ['a quoted value', 'y'.repeat(8_000)],
])('the queue shows %s whole, or offers no yes; the page of the gate shows all of it', async (_what, content) => {
  const title = 'z'.repeat(2_500);
  const say = { type: 'add_comment', params: { task_id: task.task_id, content } };
  const fits = await buildRun(app, team, { actions: gated(say), fields: { event: { title } } });
  const shown = content.replaceAll('{{event.title}}', title);
  const first = await cards(fits);
  expect(first.offers).toBe(true);
  for (const card of [first.queue, first.page]) expect(card).toContain(shown);

  const large = await buildRun(app, team, { actions: gated(say, say, say), fields: { event: { title } } });
  const { queue, page, offers } = await cards(large);
  expect(offers).toBe(false);
  expect(queue).toContain('Open to decide');
  const own = buildCard((await browser.get(`/app/approvals/gate/${large.run_id}`)).html);
  for (const card of [page, own]) {
    expect(card.split(shown)).toHaveLength(4);
    expect(card).toContain('Approve');
  }
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
