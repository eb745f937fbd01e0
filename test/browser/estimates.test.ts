import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

// A browser on a machine that is busy with other tests takes its time; nothing here is judged by a clock.
import.meta.jest.setTimeout(180_000);

describe('estimates', () => {
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser | undefined;
  let window: Window;
  let page: Page;
  const estimateOf = async (task_id: string): Promise<unknown> =>
    (await app.services.db('tasks').where({ task_id }).first('estimate')).estimate;

  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
    await givePasswords(app);
    browser = await launch();
    window = await openWindow(browser, app.url);
    ({ page } = window);
    await signInPage(page, team.member.email);
  });
  afterAll(async () => {
    await window.close();
    await browser?.close();
    await app.close();
  });

  it('are set by a key and a number, changed by a click on the chip, and added up', async () => {
    const project = await buildProject(app, team);
    const { task_id } = await buildTask(app, team, project, { title: 'Paint the quay' });
    await page.goto(`/app/projects/${project.project_id}`);
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+E');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Set estimate to 0 points")');
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.type('21');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Set estimate to 21 points")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice:has-text("The estimate is now 21 points")');
    await page.waitForSelector('main :text("0 of 21 points done")');
    expect(await estimateOf(task_id)).toBe(21);
    await page.click('main li button.chip:has-text("21 points")');
    await page.click('#palette-results [role=option]:has-text("Set estimate to 8 points")');
    await page.waitForSelector('main li button.chip:has-text("8 points")');
    await page.keyboard.press('z');
    await page.waitForSelector('main li button.chip:has-text("21 points")');
    expect(await estimateOf(task_id)).toBe(21);
    await page.goto(`/app/projects/${project.project_id}/board`);
    await page.waitForSelector('h2:has-text("1 · 21 points")');
    expect(await findFaults(page)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it('are read in the line for a new task while it is typed, and saved from the field of its page', async () => {
    const project = await buildProject(app, team);
    await page.goto(`/app/projects/${project.project_id}`);
    await page.fill('form.quick input[name=text]', 'Moor the barge 3 points');
    await page.waitForSelector('.line-read .chip:has-text("3 points")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice:has-text("Added “Moor the barge” · 3 points")');
    await page.click('main li a:has-text("Moor the barge")');
    await page.waitForSelector('h1:has-text("Moor the barge")');
    await page.fill('#i-estimate', '5');
    await page.press('#i-estimate', 'Tab');
    await page.waitForSelector('.notice:has-text("Estimate changed")');
    expect(await page.inputValue('#i-estimate')).toBe('5');
    const [task] = await app.services.db('tasks').where(project).select('task_id');
    expect(await estimateOf(task.task_id)).toBe(5);
    expect(window.complaints).toEqual([]);
  });
});
