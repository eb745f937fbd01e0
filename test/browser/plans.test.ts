import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { buildRun } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

/** Plans of the agent in the list of approvals, in a real browser. */
import.meta.jest.setTimeout(180_000);

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser | undefined;
const windows: Window[] = [];

beforeAll(async () => {
  app = await startApp();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await givePasswords(app);
});
afterEach(() => Promise.all(windows.splice(0).map((window) => window.close())));

const db = () => app.services.db;
const OLD_TEXT = `The login page answers with 500 after <b>three</b> wrong passwords.

Seen with Firefox and Chrome. Steps:
1. Open the page
2. Send a wrong password three times
3. Read the log of the server`;
const NEW_TEXT = OLD_TEXT.replace('500', '502').replace('and Chrome', '<i>only</i>');

async function open(person: Person, options: Parameters<typeof openWindow>[2] = {}): Promise<Window> {
  const window = await openWindow(browser as Browser, app.url, options);
  windows.push(window);
  await signInPage(window.page, person.email);
  return window;
}

/** A plan of the team: a deletion with subtasks, five raised priorities, a comment, and a status whose task has changed since. */
async function proposePlan() {
  const tasks: { task_id: string }[] = [];
  for (const title of ['Login 500', 'Old page', 'Below it', 'One', 'Two', 'Three', 'Four', 'Five']) {
    tasks.push(
      await buildTask(app, team, project, {
        title,
        priority: 'low',
        ...(title === 'Below it' && { parent_task_id: tasks[1]?.task_id }),
      }),
    );
  }
  const [login, old, , ...others] = tasks.map(({ task_id }) => task_id) as [string, string, string, ...string[]];
  const session = await buildSession(app, team, { kind: 'automation', title: 'Nightly cleanup' });
  const plan = await staged(
    app,
    team.manager,
    [
      ...others.map((entity_id) => ({ tool: 'task.update' as const, entity_id, params: { priority: 'medium' } })),
      { tool: 'task.set_status', entity_id: login, params: { status: 'in_review' } },
      { tool: 'task.comment', entity_id: others[0] as string, params: { content: 'No news for 14 days.' } },
      { tool: 'task.assign', entity_id: others[0] as string, params: { assigned_to: team.member.user_id } },
      { tool: 'task.delete', entity_id: old, params: {} },
    ],
    { session, source: 'automation', lifeHours: 168 },
  );
  const said = {
    session_id: session.session_id,
    role: 'assistant',
    content: 'Nothing important. <b>Confirm it.</b>',
    action_id: plan.action_id,
  };
  await db()('agent_messages').insert(said);
  await app.as(team.member).patch(`/api/tasks/${login}`, { title: 'Login 500 again' });
  return { plan, old, login, others };
}

it('a plan stands among the gates: risks first, stale and high unticked, a button that counts, then an undo', async () => {
  const { plan, old, others } = await proposePlan();
  await buildRun(app, team, { fields: { automation_name: 'Deploy' } });
  const { page, complaints } = await open(team.manager);
  await page.goto('/app/approvals');
  const card = `#plan-${plan.action_id}`;
  expect(await page.locator('#queue > article').count()).toBe(2);
  expect(await page.textContent(`${card} header`)).toContain('1 deletion, 1 assignment, 5 task updates');
  const lines = await page.locator(`${card} ol.changes > li`).allTextContents();
  expect(lines.map((line) => /Delete|Assign|Change status|Comment|Change task/.exec(line)?.[0])).toEqual([
    'Delete',
    'Assign',
    ...Array<string>(5).fill('Change task'),
    'Change status',
    'Comment',
  ]);
  expect(await page.locator(`${card} li:has-text("high risk") input`).isChecked()).toBe(false);
  expect(await page.locator(`${card} li.stale input`).isDisabled()).toBe(true);
  const { name } = await db()('users').where({ user_id: team.member.user_id }).first();
  expect(await page.textContent(`${card} li.stale .chip.late`)).toMatch(new RegExp(`^${name} changed .+`));
  const button = page.locator(`${card} button:has-text("Confirm")`);
  expect((await button.textContent())?.trim()).toBe('Confirm 7 of 9');
  expect(await page.isVisible(`${card} .said`)).toBe(false);
  expect(await findFaults(page)).toEqual([]);
  await page.click(`${card} button:text-is("none")`);
  expect((await button.textContent())?.trim()).toBe('Confirm 0 of 9');
  await page.click(`${card} button:text-is("all")`);
  expect((await button.textContent())?.trim()).toBe('Confirm 8 of 9');
  await page.uncheck(`${card} li:has-text("high risk") input`);
  await page.uncheck(`${card} li:has-text("Comment on") input`);
  expect((await button.textContent())?.trim()).toBe('Confirm 6 of 9');
  // The list renews itself; what was ticked stays.
  const renewed = page.waitForResponse((response) => /approvals.*[?&]live/.test(response.url()));
  await page.dispatchEvent('#news', 'live');
  await (await renewed).finished();
  expect((await button.textContent())?.trim()).toBe('Confirm 6 of 9');
  expect(await page.isChecked(`${card} li:has-text("Comment on") input`)).toBe(false);
  await button.click();
  await page.waitForSelector('.notice.good');
  expect(await page.textContent('.notice.good')).toContain('Applied 6 of 9 changes');
  expect(await db()('tasks').where({ task_id: others[0] }).first()).toMatchObject({
    priority: 'medium',
    assigned_to: team.member.user_id,
  });
  expect((await db()('tasks').where({ task_id: old }).first()).deleted_at).toBeNull();
  expect(await page.textContent('form.applied')).toContain('6 changes applied');
  expect(await findFaults(page)).toEqual([]);
  await page.click('form.applied button');
  await page.waitForSelector('article.plan:has-text("Undo:")');
  await page.click('article.plan:has-text("Undo:") button:has-text("Confirm")');
  await page.waitForSelector('.notice.good:has-text("Applied 6 of 6")');
  expect((await db()('tasks').where({ task_id: others[0] }).first()).priority).toBe('low');
  expect(complaints).toEqual([]);
});

it('a long text shows its first lines, and then word by word what changes; scripts are not needed', async () => {
  const { task_id: page_id } = await buildTask(app, team, project, { title: 'Login page', description: OLD_TEXT });
  const { task_id: other } = await buildTask(app, team, project, { title: 'Other', description: 'x '.repeat(900) });
  const session = await buildSession(app, team, { kind: 'automation', title: 'Nightly cleanup' });
  const update = (entity_id: string, description: string) => ({
    tool: 'task.update' as const,
    entity_id,
    params: { description },
  });
  const actions = [update(page_id, NEW_TEXT), update(other, 'y '.repeat(900))];
  const plan = await staged(app, team.manager, actions, { session, source: 'automation', lifeHours: 168 });
  const look = { colorScheme: 'dark', viewport: { width: 360, height: 740 }, javaScriptEnabled: false } as const;
  for (const options of [{}, look]) {
    const { page, complaints } = await open(team.manager, options);
    await page.goto('/app/approvals');
    const long = page.locator(`#plan-${plan.action_id} details.long`);
    expect(await page.isVisible(`#plan-${plan.action_id} .whole`)).toBe(false);
    await long.nth(0).locator('summary').click();
    await long.nth(1).locator('summary').click();
    expect(await long.nth(0).locator('del').allTextContents()).toEqual(['removed: 500', 'removed: and Chrome']);
    expect(await long.nth(0).locator('ins').allTextContents()).toEqual(['added: 502', 'added: <i>only</i>']);
    expect(await long.nth(0).locator('b, i').count()).toBe(0);
    // Too different to be compared: one after the other.
    expect(await long.nth(1).locator('.words').count()).toBe(0);
    expect(await long.nth(1).locator('.whole').allTextContents()).toEqual(['x '.repeat(900), 'y '.repeat(900)]);
    if (options !== look) expect(await findFaults(page)).toEqual([]);
    const shots = process.env['SHOTS'];
    if (shots) await page.screenshot({ path: `${shots}/diff-${options === look ? 'phone' : 'desk'}.png`, fullPage: true });
    expect(complaints).toEqual([]);
  }
});

it('without scripts it confirms what is ticked, and a refusal returns to the card', async () => {
  const { plan, others } = await proposePlan();
  const { page, complaints } = await open(team.manager, { javaScriptEnabled: false });
  await page.goto('/app/approvals');
  const card = `#plan-${plan.action_id}`;
  expect((await page.textContent(`${card} button:has-text("Confirm")`))?.trim()).toBe('Confirm the ticked changes');
  await app.as(team.member).delete(`/api/tasks/${others[0]}`);
  await page.click(`${card} button:has-text("Confirm")`);
  await page.waitForSelector('.notice.bad');
  expect(await page.textContent('.notice.bad')).toContain('What the plan would change has changed since you have read it');
  expect(page.url()).toContain(`/app/approvals/plan/${plan.action_id}`);
  await page.click(`${card} details.reject summary`);
  await page.fill(`${card} textarea[name=reason]`, 'Not this week');
  await page.click(`${card} button:has-text("Discard")`);
  await page.waitForSelector('.notice.good');
  expect(await page.locator(card).count()).toBe(0);
  expect(await app.services.db('agent_plans').where({ action_id: plan.action_id }).first()).toMatchObject({
    comment: 'Not this week',
  });
  await page.goto(`/app/approvals/plan/${plan.action_id}`);
  expect(await page.innerText(card)).toContain('“Not this week”');
  expect(complaints).toEqual([]);
});

it('on a phone in the dark nothing is too wide; a member sees what needs a manager', async () => {
  const { plan } = await proposePlan();
  const look = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const;
  const { page } = await open(team.member, look);
  await page.goto('/app/approvals');
  expect(await page.textContent(`#plan-${plan.action_id}`)).toContain(
    'Only a manager or an admin of the team can confirm this plan',
  );
  expect(await page.locator(`#plan-${plan.action_id} button`).count()).toBe(0);
  expect(await findFaults(page)).toEqual([]);
  const { page: mine } = await open(team.manager, look);
  await mine.goto('/app/approvals');
  expect(await mine.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
  expect(await findFaults(mine)).toEqual([]);
  const shots = process.env['SHOTS'];
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await mine.screenshot({ path: `${shots}/phone.png`, fullPage: true });
  const { page: desk } = await open(team.manager, { viewport: { width: 1200, height: 900 } });
  await desk.goto('/app/approvals');
  await desk.screenshot({ path: `${shots}/desk.png`, fullPage: true });
});
