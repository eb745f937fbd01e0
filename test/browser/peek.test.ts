import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

import.meta.jest.setTimeout(180_000);

describe('a task shown beside its list', () => {
  let app: TestApp;
  let team: TestTeam;
  let project: { project_id: string };
  let browser: Browser | undefined;
  let window: Window;
  let page: Page;

  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
    await givePasswords(app);
    project = await buildProject(app, team);
    const markup = { title: 'Paint the <b>quay</b>', description: '- [ ] buy *white* paint' };
    await buildTask(app, team, project, { ...markup, priority: 'low' });
    await buildTask(app, team, project, { title: 'Fix the crane', description: 'It squeaks' });
    browser = await launch();
  });
  beforeEach(async () => {
    window = await openWindow(browser as Browser, app.url);
    ({ page } = window);
    await signInPage(page, team.admin.email);
    await page.goto(`/app/projects/${project.project_id}?sort=title`);
  });
  afterEach(() => window.close());
  afterAll(async () => {
    await browser?.close();
    await app.close();
  });

  const focused = () => page.evaluate<string>('document.activeElement.textContent');

  it('Space shows it, keys go on through the rows and change the task, and Escape closes it', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press(' ');
    await page.waitForSelector('.peek:has-text("It squeaks")');
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('j');
    await page.waitForSelector('.peek h2 a:text-is("Paint the <b>quay</b>")');
    expect(await page.isDisabled('.peek input[type=checkbox]')).toBe(true);
    expect(await focused()).toContain('Paint the <b>quay</b>');
    await page.keyboard.press('p');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('urgent');
    await page.waitForSelector('#palette-results [role=option][aria-selected=true]:has-text("Urgent")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.peek dd:text-is("Urgent")');
    expect(await focused()).toContain('Paint the <b>quay</b>');
    await page.keyboard.press('Escape');
    expect(await page.isHidden('.peek')).toBe(true);
    expect(await focused()).toContain('Paint the <b>quay</b>');
    expect(window.complaints).toEqual([]);
  });

  it('says every field that is set, what waits, and the last comments, beside a list that keeps its marks in sight', async () => {
    const facts = { due_date: '2030-12-10', tags: ['steel', 'quay'], estimate: 5, assigned_to: team.member.user_id };
    const { task_id } = await buildTask(app, team, project, { title: 'Aim the *lamp*', description: 'At **sea**', ...facts });
    for (const content of ['One', 'Two', 'Three', '_Four_'])
      await app.as(team.member).post(`/api/tasks/${task_id}/comments`, { content });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.reload();
    await page.keyboard.press('j');
    await page.keyboard.press(' ');
    await page.waitForSelector('.peek:has-text("Aim the *lamp*")');
    const rows = await page.locator('.peek dl > div').allInnerTexts();
    const said = Object.fromEntries(rows.map((row) => row.split('\n').map((part) => part.trim())));
    expect(said).toMatchObject({ Status: 'To do', Due: 'Tue 10 Dec 2030', Points: '5', Tags: 'steel, quay' });
    expect(Object.keys(said)).toEqual(['Status', 'Assigned to', 'Priority', 'Due', 'Points', 'Project', 'Tags']);
    expect(await page.locator('.peek .prose strong').innerText()).toBe('sea');
    expect(await page.locator('.peek article .prose').allInnerTexts()).toEqual(['Two', 'Three', 'Four']);
    expect(await page.innerText('.peek')).toMatch(/The last 3 of 4 comments[^]*Enter opens it/);
    const left = (await page.locator('.peek').boundingBox())?.x ?? 0;
    const row = await page.locator('#tasks li:first-child').boundingBox();
    expect((row?.x ?? 0) + (row?.width ?? 0)).toBeLessThanOrEqual(left);
    expect(await findFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1100, height: 800 });
    expect((await page.locator('#tasks li:first-child').boundingBox())?.width).toBeGreaterThan(700);
    await app.as(team.admin).delete(`/api/tasks/${task_id}`);
  });

  it('repeats no id of the page, and has nothing that sends a form', async () => {
    await page.keyboard.press('j');
    await page.keyboard.press(' ');
    await page.waitForSelector('.peek:has-text("It squeaks")');
    expect(await page.locator('.peek :is([id], [data-task])').count()).toBe(0);
    expect(await page.locator('.peek :is(form, button, textarea, select)').count()).toBe(0);
  });

  it('leaves Space to a box and to a field', async () => {
    await page.focus('#tasks li:first-child input[type=checkbox]');
    await page.keyboard.press(' ');
    expect(await page.isChecked('#tasks li:first-child input[type=checkbox]')).toBe(true);
    await page.focus('form.quick input[name=text]');
    await page.keyboard.type('a b');
    expect(await page.inputValue('form.quick input[name=text]')).toBe('a b');
    expect(await page.isHidden('.peek')).toBe(true);
  });
});
