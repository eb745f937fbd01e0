import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { buildRun, GATE } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

// Approvals by keys alone: a key moves the focus and says what Enter does, and only Enter decides.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let team: TestTeam;
let browser: Browser | undefined;
let window: Window;
let page: Page;
let tasks: { task_id: string; title: string; called: string }[];
let runs: { run_id: string }[];

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  browser = await launch();
});
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  await app.services.db('teams').where({ team_id: team.team_id }).update({ key: 'QUA' });
  const project = await buildProject(app, team);
  tasks = [];
  runs = [];
  for (const [at, title] of ['Fix the crane', 'Paint the quay', 'Moor the barge'].entries()) {
    const task = await buildTask(app, team, project, { title });
    const { number } = await app.services.db('tasks').where({ task_id: task.task_id }).first();
    tasks.push({ ...task, title, called: `QUA-${number}` });
    const close = { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } };
    runs.push(await buildRun(app, team, { actions: [GATE, close] as never[], expiresIn: 600 + 100 * at }));
  }
  window = await openWindow(browser as Browser, app.url);
  ({ page } = window);
  await signInPage(page, team.manager.email);
});
afterEach(async () => {
  expect(window.complaints).toEqual([]);
  await window.close();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});

const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** The card whose headline has the focus. */
const focusIs = (title: string) => page.locator('article:has(> header a:focus)', { hasText: title }).waitFor();
const getStatus = async (at: number) =>
  (await app.services.db('automation_runs').where({ run_id: runs[at]?.run_id }).first()).status;
const notice = (text: string) => page.locator('.notice', { hasText: text }).waitFor();

it('Enter sends a reason that was opened by a click as one that n opened, and approves nothing', async () => {
  await page.goto('/app/approvals');
  for (const [at, title, keys] of [
    [0, 'Fix the crane', ['Enter']],
    [1, 'Paint the quay', ['Control+Enter']],
  ] as const) {
    const card = page.locator('article', { hasText: title });
    await card.locator('summary:has-text("Reject…")').click();
    expect(await card.locator('details.reject .fine').innerText()).toBe('Enter rejects, Shift Enter adds a line.');
    await page.keyboard.type('Not');
    await press('Shift+Enter');
    await page.keyboard.type('yet');
    await press(...keys);
    await page.locator('.notice', { hasText: 'Rejected' }).waitFor();
    const { body } = await app.as(team.manager).get(`/api/approvals/gate/${runs[at]?.run_id}`);
    expect(body).toMatchObject({ state: 'rejected', comment: expect.stringMatching(/^Not\r?\nyet$/) });
    await page.goto('/app/approvals');
  }
});

it('Enter in the reason of ticked ones rejects them', async () => {
  await page.goto('/app/approvals');
  await press('j', 'x', 'j', 'x');
  await page.locator('#many summary:has-text("Reject ticked…")').click();
  await page.keyboard.type('Not yet');
  await press('Enter');
  await notice('2 rejected.');
  expect([await getStatus(0), await getStatus(1), await getStatus(2)]).toEqual(['skipped', 'skipped', 'paused']);
});

it('text that is typed decides nothing: neither after Reject… was opened, nor where no field has the focus', async () => {
  await page.goto('/app/approvals');
  const card = page.locator('article', { hasText: 'Fix the crane' });
  const isUndecided = async () => {
    expect(await page.locator('article', { hasText: 'Fix the crane' }).locator('button:has-text("Approve"):focus').count()).toBe(
      0,
    );
    expect(await getStatus(0)).toBe('paused');
  };
  await card.locator('summary:has-text("Reject…")').click();
  await page.keyboard.type('Not yet tested. Why today? ');
  await isUndecided();
  expect(await card.locator('textarea[name=reason]').inputValue()).toBe('Not yet tested. Why today? ');
  // On a phone the field is above the bar of places.
  await page.setViewportSize({ width: 390, height: 700 });
  await page.goto('/app/approvals');
  await card.locator('summary:has-text("Reject…")').click();
  const bottom = ({ y, height }: { y: number; height: number }): number => y + height;
  const field = await card.locator('textarea[name=reason]').boundingBox();
  expect(bottom(field ?? { y: Infinity, height: 0 })).toBeLessThan(620);
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto('/app/approvals');
  await card.locator('summary:has-text("Reject…")').click();
  await card.locator('summary:has-text("Reject…")').click();
  await card.locator('summary:has-text("Add a comment")').click();
  await page.keyboard.type('yes ');
  expect(await card.locator('textarea[name=comment]').inputValue()).toBe('yes ');
  // A letter right before it, the space bar, or a letter after it.
  await page.goto('/app/approvals');
  await press('j');
  await focusIs('Fix the crane');
  await page.keyboard.type('hardly');
  await isUndecided();
  for (const typed of ['y ', 'yes', 'y. ']) {
    await page.waitForTimeout(1_100);
    await press('y');
    await page.locator('article:has-text("Fix the crane") button:has-text("Approve"):focus').waitFor();
    await page.keyboard.type(typed.slice(1));
    await isUndecided();
    await focusIs('Fix the crane');
  }
  // While the reason is open, y is no way to a yes.
  await page.waitForTimeout(1_100);
  await card.locator('summary:has-text("Reject…")').click();
  await page.locator('textarea[name=reason]:focus').waitFor();
  await card.locator('header a').focus();
  await press('y', 'Enter');
  expect(await getStatus(0)).toBe('paused');
});

it('j and k go from card to card, x ticks, y and Enter approve, n, a reason and Enter reject; the next card is in focus', async () => {
  await page.goto('/app/approvals');
  expect((await page.textContent('#queue > article h2'))?.replace(/\s+/g, ' ').trim()).toBe(
    `Close ${tasks[0]?.called} “Fix the crane”? To do to Done`,
  );
  await press('y');
  expect(await page.textContent('body > p.unseen[role=status]')).toContain('Put the focus on a card first');
  await press('j', 'j', 'x', 'k');
  await focusIs('Fix the crane');
  expect(await page.textContent('[data-ticked]')).toBe('1 ticked');
  await press('Escape', 'y');
  expect(await page.textContent('[data-ticked]')).toBe('Ticked ones');
  await page.locator('article:has-text("Fix the crane") button:has-text("Approve"):focus').waitFor();
  expect(await page.textContent('.decide .hint')).toBe(
    `Press Enter to approve: Close ${tasks[0]?.called} “Fix the crane”? To do to Done`,
  );
  expect(await findFaults(page)).toEqual([]);
  // The key again, or Escape, decides nothing.
  await press('y', 'Escape');
  await focusIs('Fix the crane');
  expect(await page.locator('.decide .hint').count()).toBe(0);
  expect(await getStatus(0)).toBe('paused');
  await press('y', 'Enter');
  await notice('Approved. The run continues.');
  await focusIs('Paint the quay');
  expect(await getStatus(0)).toBe('running');

  await press('n');
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('Not before');
  await press('Shift+Enter');
  await page.keyboard.type('Monday y');
  expect(await page.textContent('.decide .hint')).toContain(
    `press Enter to reject: Close ${tasks[1]?.called} “Paint the quay”? To do to Done`,
  );
  expect(await findFaults(page)).toEqual([]);
  await press('Enter');
  await notice('Rejected.');
  await focusIs('Moor the barge');
  expect(await getStatus(1)).not.toBe('running');
  const { reason } = await app.services.db('gates').where({ run_id: runs[1]?.run_id }).first();
  expect(reason.replaceAll('\r\n', '\n')).toBe('Not before\nMonday y');
  await press('o');
  await page.waitForSelector(`h1:has-text("Close ${tasks[2]?.called} “Moor the barge”?")`);
  // The page of one decision has the same keys.
  await press('y', 'Enter');
  await notice('Approved. The run continues.');
  expect(await getStatus(2)).toBe('running');
});

it('a comment that was opened by a click takes Enter as a new line', async () => {
  await page.goto('/app/approvals');
  await page.click('#queue > article >> nth=0 >> details.comment summary');
  await page.fill('#queue > article >> nth=0 >> textarea[name=comment]', 'One');
  await press('Enter');
  expect(await page.inputValue('#queue > article >> nth=0 >> textarea[name=comment]')).toBe('One\n');
  expect(await getStatus(0)).toBe('paused');
});

it('a plan is confirmed by y and Enter among the gates; the filter and the next card stay', async () => {
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const plan = (entity_id: string, priority: string) =>
    staged(app, team.admin, [{ tool: 'task.update' as const, entity_id, params: { priority } }], {
      session,
      source: 'overnight_triage',
      lifeHours: 1,
    });
  const [first, second] = [tasks[0]?.task_id as string, tasks[1]?.task_id as string];
  await plan(first, 'urgent');
  await plan(second, 'high');
  await page.goto('/app/approvals?kind=plan');
  await press('j');
  await focusIs(`Change task ${tasks[0]?.called} “Fix the crane”? priority: medium to urgent`);
  await press('y');
  await page.locator('button:has-text("Confirm 1 of 1"):focus').waitFor();
  await press('Enter');
  await notice('Applied 1 of 1');
  await focusIs('Paint the quay');
  expect(page.url()).toBe(`${app.url}/app/approvals?kind=plan`);
  expect(await page.locator('#queue article.gate').count()).toBe(0);
  await press('n', 'Enter');
  await page.waitForSelector('#queue:not(:has(article.plan))');
  expect(await app.services.db('tasks').where({ task_id: second }).first()).toMatchObject({ priority: 'medium' });
});
