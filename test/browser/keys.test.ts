import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

// A browser on a machine that is busy with other tests takes its time; nothing here is judged by a clock.
import.meta.jest.setTimeout(180_000);

describe('keys and the palette', () => {
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser | undefined;
  let window: Window;
  let page: Page;

  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
    await givePasswords(app);
    await buildTask(app, team, await buildProject(app, team), { title: 'Paint the quay' });
    browser = await launch();
  });
  beforeEach(async () => {
    window = await openWindow(browser as Browser, app.url);
    ({ page } = window);
    await signInPage(page, team.admin.email);
  });
  afterEach(() => window.close());
  afterAll(async () => {
    await browser?.close();
    await app.close();
  });

  const chosen = () => page.textContent('#palette-results [aria-selected=true] .grow');

  it('Ctrl K finds an item, and Enter opens it; the mouse is not needed', async () => {
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('quay');
    await page.waitForSelector('#palette-results :text("Paint the quay")');
    expect(await chosen()).toMatch(/^[A-Z]+-\d+ Paint the quay$/);
    expect(await page.getAttribute('#palette-query', 'aria-activedescendant')).toBe('option-Items-0');
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Paint the quay")');
    expect(window.complaints).toEqual([]);
  });

  it('lists first the tasks that were opened last, without the one that is open', async () => {
    // A path that is none leaves the palette as it was.
    await page.goto('/app/items/%ff');
    await page.evaluate("localStorage.setItem('assent-recent', '%ff,%zz')");
    await page.goto('/app/projects');
    await page.click('main a[href^="/app/projects/"]:has-text("Apollo")');
    await page.click('#tasks a:has-text("Paint the quay")');
    await page.waitForSelector('h1:has-text("Paint the quay")');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-results [role=option]');
    expect(await page.locator('#palette-results [aria-label="Opened last"]').count()).toBe(0);
    await page.goto('/app/teams');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-results [aria-label="Opened last"] [aria-selected=true]:has-text("Paint the quay")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Paint the quay")');
    expect(window.complaints).toEqual([]);
  });

  it('opens what the query finds, also when Enter comes before the answer', async () => {
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('quay');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Paint the quay")');
    expect(window.complaints).toEqual([]);
  });

  it('arrows go round the results; Escape closes it and leaves the page as it was', async () => {
    await page.keyboard.press('Control+k');
    // At once: an answer to fewer letters would choose anew.
    await page.fill('#palette-query', 'cycle');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Cycles")');
    const first = await chosen();
    await page.keyboard.press('ArrowUp');
    expect(await chosen()).not.toBe(first);
    await page.keyboard.press('ArrowDown');
    expect(await chosen()).toBe(first);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    expect(page.url()).toBe(`${app.url}/app`);
  });

  it('creates a task in the project that was open last, from any page, and stays there', async () => {
    await page.goto('/app/projects');
    await page.click('main ul.rows a');
    await page.waitForSelector('main [data-project]');
    await page.goto('/app/cycles');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('moor the barge');
    await page.waitForSelector('#palette-results :text("New task: moor the barge")');
    // It was not asked for: Enter alone creates nothing.
    expect(await page.locator('#palette-results [aria-selected=true]').count()).toBe(0);
    expect(await findFaults(page)).toEqual([]);
    await page.fill('#palette-query', 'new task: moor the barge !urgent');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("moor the barge !urgent")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notice:has-text("Added “moor the barge” · urgent")');
    expect(page.url()).toBe(`${app.url}/app/cycles`);
    await page.click('.notice >> text=Undo');
    await page.waitForSelector('.notice:has-text("The change was undone")');
    expect(window.complaints).toEqual([]);
  });

  it('c asks for a new task over any page, in the project that was open last or another, and stays there', async () => {
    const second = await buildProject(app, team);
    await page.goto(`/app/projects/${second.project_id}`);
    await page.goto('/app/cycles');
    await page.keyboard.press('c');
    await page.waitForSelector('#new-task[open] input[name=text]:focus');
    expect(await page.inputValue('#new-task select')).toBe(second.project_id);
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.keyboard.press('c');
    await page.waitForSelector('#new-task[open] input[name=text]:focus');
    // The browser leaves the focus in a closed dialog until its next frame: a key counts there already.
    const held = await page.evaluate(`(() => {
      document.querySelector('#new-task').close();
      const name = document.activeElement.name;
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true, cancelable: true }));
      return name;
    })()`);
    expect(held).toBe('text');
    await page.waitForSelector('#new-task[open] input[name=text]:focus');
    await page.keyboard.type('Splice the rope !high');
    await page.waitForSelector('#new-task .line-read:has-text("high")');
    const others = await page.locator(`#new-task option:not([value="${second.project_id}"])`).first().getAttribute('value');
    const read = page.waitForResponse((response) => response.url().includes(`project_id=${others ?? ''}`));
    await page.selectOption('#new-task select', others);
    await read;
    await page.fill('#new-task textarea', 'From *both* ends');
    await page.press('#new-task textarea', 'Control+Enter');
    await page.waitForSelector('.notice:has-text("Added “Splice the rope” · high")');
    expect(page.url()).toBe(`${app.url}/app/cycles`);
    const task = await app.services.db('tasks').where({ title: 'Splice the rope' }).first();
    expect(task).toMatchObject({ project_id: others, priority: 'high', description: 'From *both* ends' });
    // The palette has it too, and a project has a line of its own.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('new task');
    await page.click('#palette-results [role=option]:has-text("New task")');
    await page.waitForSelector('#new-task[open]');
    expect(await page.inputValue('#new-task select')).toBe(others);
    await page.goto(`/app/projects/${second.project_id}`);
    await page.keyboard.press('c');
    await page.waitForSelector('#f-text:focus');
    expect(window.complaints).toEqual([]);
  });

  it('. copies the link of a task, on its page and of the row in focus', async () => {
    const project = await buildProject(app, team);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const task = await buildTask(app, team, project, { title: 'To be linked' });
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.goto(`/app/items/${task.task_id}`);
    await page.keyboard.press('.');
    await page.waitForSelector('button:has-text("Copied")');
    expect(await copied()).toMatch(/\/app\/tasks\/[A-Z]+-\d+$/);
    await page.goto(`/app/projects/${project.project_id}`);
    await page.focus(`li[data-task] a[href="/app/items/${task.task_id}"]`);
    await page.keyboard.press('.');
    await page.waitForSelector('[role=status]:has-text("Link copied")', { state: 'attached' });
    expect(await copied()).toBe(`${app.url}/app/items/${task.task_id}`);
  });

  it('s is for the row under the pointer where none has the focus', async () => {
    const project = await buildProject(app, team);
    const task = await buildTask(app, team, project, { title: 'Under the pointer' });
    await page.goto(`/app/projects/${project.project_id}`);
    await page.hover(`#row-${task.task_id}`);
    await page.keyboard.press('s');
    await page.click('#palette-results [role=option]:has-text("In review")');
    await page.waitForSelector('.notice');
    expect(await app.services.db('tasks').where({ task_id: task.task_id }).first()).toMatchObject({ status: 'in_review' });
  });

  it('? lists the keys, and g with another key goes to a page; both can be turned off', async () => {
    await page.keyboard.press('?');
    await page.waitForSelector('#keys[open] kbd');
    expect(await page.textContent('#keys')).toContain('Cycles');
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.waitForURL(`${app.url}/app/cycles`);
    expect(await page.getAttribute('nav.places a[aria-current=page]', 'href')).toBe('/app/cycles');
    await page.goto('/app/keys');
    await page.uncheck('[data-single-keys]');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette[open]');
    expect(page.url()).toBe(`${app.url}/app/keys`);
  });

  it('a key that is typed into a field does nothing else', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('g c?/');
    expect(await page.inputValue('#find')).toBe('g c?/');
    expect(page.url()).toBe(`${app.url}/app`);
  });
});
