import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { buildRequest } from '../factories/requests.js';
import { buildRun, GATE, type TestRun } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { launch, openWindow, signInPage, type Window } from './chromium.js';

// What waits for a yes about a task comes and goes on its page, and takes neither the focus nor what is typed.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let team: TestTeam;
let browser: Browser | undefined;
let window: Window;
let page: Page;
let task: { task_id: string };

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  browser = await launch();
});
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Fix the crane' });
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

const db = () => app.services.db;
/** A run that reaches its gate while pages are open. */
async function gated(): Promise<TestRun> {
  const close = { type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } };
  const run = await buildRun(app, team, { actions: [GATE, close] as never[] });
  await app.as(team.member).get(`/api/approvals/gate/${run.run_id}`);
  for (const status of ['running', 'paused']) await db()('automation_runs').where({ run_id: run.run_id }).update({ status });
  return run;
}
const open = () => page.goto(`/app/items/${task.task_id}`);
const cardOf = ({ run_id }: TestRun) => page.locator(`#gate-${run_id}`);
const reject = ({ run_id }: TestRun) => app.as(team.admin).post(`/api/automations/runs/${run_id}/reject`, { comment: 'No' });
const statusOf = async ({ run_id }: TestRun) => (await db()('automation_runs').where({ run_id }).first()).status;
const focused = () => page.evaluate<string>('document.activeElement.name || document.activeElement.textContent.trim()');

it('comes and goes while a comment is typed', async () => {
  await open();
  const comment = page.locator('textarea[name=content]').last();
  await comment.fill('Half a sentence');
  const run = await gated();
  await cardOf(run).waitFor();
  await page.keyboard.type(' more');
  expect(await comment.inputValue()).toBe('Half a sentence more');
  await reject(run);
  await cardOf(run).waitFor({ state: 'detached' });
  expect(await focused()).toBe('content');
  // A decision on the page leaves the comment where it is.
  const next = await gated();
  await cardOf(next).locator('[data-decides=y]').click();
  await page.locator('.notice', { hasText: 'Approved' }).waitFor();
  expect(await statusOf(next)).toBe('running');
  expect(await page.locator('textarea[name=content]').last().inputValue()).toBe('Half a sentence more');
});

it('a card with a typed reason stays and says that it was decided elsewhere', async () => {
  const run = await gated();
  await open();
  await cardOf(run).locator('summary:has-text("Reject…")').click();
  await page.keyboard.type('Not before noon');
  const other = await gated();
  await cardOf(other).waitFor();
  expect(await focused()).toBe('reason');
  await reject(run);
  await cardOf(run).locator('text=Decided or closed meanwhile.').waitFor();
  const reason = cardOf(run).locator('textarea[name=reason]');
  expect(await reason.inputValue()).toBe('Not before noon');
  expect(await cardOf(run).locator('button:enabled').count()).toBe(0);
  expect(await cardOf(other).locator('[data-decides=y]:enabled').count()).toBe(1);
});

it('Enter says yes to nothing that has changed since y was pressed', async () => {
  const run = await gated();
  await open();
  await page.keyboard.press('y');
  expect(await focused()).toContain('Approve');
  const before = await cardOf(run).locator('[name=seen_hash]').inputValue();
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Sink the crane', version: 1 });
  await until(async () => (await cardOf(run).locator('[name=seen_hash]').inputValue()) !== before);
  expect(await page.evaluate('document.activeElement.matches("[data-decides]")')).toBe(false);
  expect(await page.evaluate('document.activeElement.closest("article") !== null')).toBe(true);
  expect(await statusOf(run)).toBe('paused');
});

it('a decision on the Approvals page leaves what is typed, opened and ticked in other cards', async () => {
  const run = await gated();
  const first = await buildRequest(app, team, team.member, { title: 'Deploy at noon' });
  const second = await gated();
  await page.goto('/app/approvals');
  const request = page.locator(`#request-${first.request_id}`);
  await request.locator('summary:has-text("Reject…")').click();
  await page.keyboard.type('Too early');
  await cardOf(second).locator('input[name=item]').check();
  await cardOf(run).locator('[data-decides=y]').click();
  await page.locator('.notice', { hasText: 'Approved' }).waitFor();
  expect(await request.locator('textarea[name=reason]').inputValue()).toBe('Too early');
  expect(await request.locator('details.reject').getAttribute('open')).not.toBeNull();
  expect(await cardOf(second).locator('input[name=item]').isChecked()).toBe(true);
  await page.locator('[data-ticked]', { hasText: '1 ticked' }).waitFor();
});
