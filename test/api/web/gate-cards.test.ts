import { listMails } from '../../../api/platform/mail/list-mails.js';
import { openGate } from '../../../api/automation/runs/approvals/asking/open-gate.js';
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

it('says that the automation was edited since its run began, and links what changed', async () => {
  const run = await buildRun(app, team, {
    actions: gated({ type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } }),
  });
  const path = `/api/automations/${run.automation_id}`;
  for (const card of Object.values(await cards(run)).slice(0, 2)) expect(card).not.toContain('This approval belongs to version');
  expect((await app.as(team.manager).patch(path, { name: 'Another name' })).status).toBe(200);
  for (const card of Object.values(await cards(run)).slice(0, 2))
    expect(card).toContain(
      'This approval belongs to version 1 of the automation. Version 2 is current and is not what happens here: see what changed .',
    );
  const { html } = await browser.get('/app/approvals');
  const link = `/app/automations/${run.automation_id}/versions?from=1&to=2`;
  expect(html).toContain(`href="${link.replace('&', '&amp;')}"`);
  expect((await browser.get(link)).status).toBe(200);
  const { approvals } = (await app.as(team.manager).get('/api/automations/approvals')).body;
  expect(approvals).toMatchObject([{ automation_version: 1, current_version: 2 }]);
});

it('says what is skipped beside the one action that the question is about', async () => {
  const same = { type: 'update_task', params: { task_id: task.task_id, priority: 'medium' } };
  const comment = { type: 'add_comment', params: { task_id: task.task_id, content: 'Seen.' } };
  const run = await buildRun(app, team, {
    actions: [{ ...GATE, params: { ...GATE.params, if_unchanged: 'skip' } }, same, comment],
    status: 'running',
    statuses: ['pending', 'pending', 'pending'],
    gateIndex: 99,
  });
  await openGate(app.services, { runId: run.run_id, incarnation: 1, execution: 'an-execution' }, 0);
  const { html } = await browser.get(`/app/approvals/gate/${run.run_id}`);
  expect(html).toContain('<span class="step">Change task');
  expect(html).toContain('<span class="step unseen">Comment on');
  expect(toText(html)).toContain('Skipped: changes nothing: priority medium as it is');
});

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
  // Values read as on the page.
  expect(JSON.stringify(mails)).toContain('status: To do → Done');
  expect(JSON.stringify(mails)).not.toContain('Typo in footer');
});

it('a value that is another one than when it was asked about is said as both', async () => {
  const close = { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } };
  const run = await buildRun(app, team, { actions: gated(close) });
  expect((await cards(run)).queue).not.toContain('when asked');
  const set = async (status: string) => app.as(team.member).patch(`/api/tasks/${task.task_id}`, { status });
  await set('in_progress');
  expect((await cards(run)).queue).toMatch(/status from In progress to Done \(was To do when asked\)/);
  await set('done');
  expect((await cards(run)).page).toMatch(/status was To do when asked, is Done now/);
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

it('a pull request is a link to it: of a delivery, and by https only', async () => {
  const url = 'https://forge.example/acme/rocket/pull/41?a="b"';
  const event = { repo: 'acme/rocket', pr_number: 41, title: 'Harden the cookie' };
  const show = async (fields: object) => {
    const run = await buildRun(app, team, { actions: gated(), fields: { trigger_type: 'forge.pr_merged', ...fields } });
    return (await browser.get(`/app/approvals/gate/${run.run_id}`)).html;
  };
  const link =
    '<a href="https://forge.example/acme/rocket/pull/41?a=%22b%22" rel="noopener noreferrer">acme/rocket #41 · Harden the cookie</a>';
  expect(await show({ event: { ...event, url } })).toContain(link);
  const others = ['http://forge.example/', 'javascript:alert(1)', '//forge.example', `https://x/${'a'.repeat(600)}`, 7];
  for (const one of others)
    expect(await show({ event: { ...event, url: one } })).not.toMatch(/<a href="[^"]*"[^>]*>acme\/rocket/);
  expect(await show({ event: { ...event, url }, trigger_type: 'manual' })).not.toContain('forge.example');
});

it('a gate that cannot be staged stands there without its actions, and keeps no other from being shown', async () => {
  const close = { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } };
  const broken = await buildRun(app, team, { actions: gated(close), expiresIn: 600 });
  const actions = JSON.stringify([GATE, null]);
  await db()('automation_versions').where({ automation_id: broken.automation_id }).update({ actions });
  const run = await buildRun(app, team, { actions: gated(close), expiresIn: 700 });
  const { html } = await browser.get('/app/approvals');
  expect(buildCard(html, run.run_id)).toContain('Runs if approved');
  expect(buildCard(html, broken.run_id)).not.toContain('Runs if approved');
  expect(html).toContain(`id="gate-${broken.run_id}"`);
});

describe('a task that changes while its gate waits', () => {
  const change = async (fields: object) =>
    expect((await app.as(team.member).put(`/api/tasks/${task.task_id}`, fields)).status).toBe(200);
  const openGateOf = async (condition: string | null) => {
    const close = { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } };
    const { body: automation } = await app.as(team.manager).post('/api/automations', {
      name: 'Close what is urgent',
      team_id: team.team_id,
      trigger_type: 'task.updated',
      ...(condition !== null && { condition }),
      actions: gated(close),
    });
    await change({ priority: 'urgent' });
    const { body } = await app.as(team.manager).get(`/api/tasks/${task.task_id}`);
    const event = { type: 'task.updated', task: body, changes: { priority: { from: 'medium', to: 'urgent' } } };
    return buildRun(app, team, { automation, creator: team.manager, fields: { trigger_type: 'task.updated', event } });
  };

  it('says what has changed, and that the condition does not hold any more', async () => {
    const run = await openGateOf('task.priority == "urgent"');
    expect((await cards(run)).queue).not.toContain('Since it started');
    await change({ priority: 'low', assigned_to: team.member.user_id });
    const { queue, page, offers } = await cards(run);
    for (const card of [queue, page]) {
      expect(card).toMatch(/the task has changed: priority from urgent to low, assignee from nobody to /);
      expect(card).toMatch(/does not hold any more: task.priority == "urgent" is false \(event.task.priority is "low"\) ?\./);
    }
    expect(offers).toBe(true);
    await change({ priority: 'urgent', assigned_to: null });
    expect((await cards(run)).queue).not.toContain('Since it started');
  });

  it('says nothing of a condition that holds, of what cannot be evaluated, or to who may not read the task', async () => {
    const [whole, broken] = [await openGateOf(null), await openGateOf('event.task.nothing == 1')];
    await change({ title: 'Rotate <b>all</b> keys' });
    for (const run of [whole, broken]) {
      const { queue } = await cards(run);
      expect(queue).toContain('the task has changed: title from “Rotate the keys” to “Rotate <b>all</b> keys”');
      expect(queue).not.toContain('any more');
    }
    const elsewhere = await buildTeam(app);
    const foreign = await buildTask(app, elsewhere, await buildProject(app, elsewhere), { title: 'A secret' });
    const event = { type: 'task.updated', task: { task_id: foreign.task_id, version: 0, title: 'Guessed', priority: 'low' } };
    const run = await buildRun(app, team, { actions: gated(), fields: { trigger_type: 'task.updated', event } });
    expect((await cards(run)).queue).not.toMatch(/Since it started|A secret/);
  });
});
