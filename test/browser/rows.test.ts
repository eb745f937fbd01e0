import { until } from '../support/worker.js';
import type { Browser, Locator, Page } from 'playwright-core';
import { buildProject, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, openWindow, type Window, startSignedIn, type SignedIn } from './chromium.js';

// Lists and boards by keys alone.

import.meta.jest.setTimeout(180_000);

describe('rows and cards by keys', () => {
  let signedIn: SignedIn;
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let path: string;
  let projectId: string;
  const db = () => app.services.db;

  beforeAll(async () => {
    signedIn = await startSignedIn();
    ({ app, team, window, page, browser } = signedIn);
  });
  beforeEach(async () => {
    projectId = (await buildProject(app, team)).project_id;
    path = `/app/projects/${projectId}`;
    const rows = Array.from({ length: 40 }, (_, at) => ({
      title: `Row ${String(at + 1).padStart(2, '0')}`,
      project_id: projectId,
    }));
    await app.as(team.member).post('/api/tasks/bulk', rows);
  });
  afterEach(() => expect(window.complaints).toEqual([]));
  afterAll(() => signedIn.end());

  /** Waits until a row or card is in focus: it comes back a moment after the answer. */
  const focusIs = (title: string) => page.locator('li:has(a:focus)', { hasText: title }).waitFor();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const notice = (text: string) => page.locator('.notice', { hasText: text }).waitFor();
  const taskOf = (title: string) => db()('tasks').where({ title, project_id: projectId }).first();
  const openFilter = () => page.locator('[title^=Filter]').click();
  const openList = () => page.goto(`${path}?sort=title`);
  /** Pixels between the status of a row and the chooser that it has opened. */
  const awayFromPill = async (title: string) => {
    const pill = await page.locator('#tasks li', { hasText: title }).locator('button.chip', { hasText: 'To do' }).boundingBox();
    const menu = await page.locator('#palette').boundingBox();
    if (!pill || !menu) throw new Error('No chooser is open');
    return Math.min(Math.abs(menu.y - pill.y - pill.height), Math.abs(pill.y - menu.y - menu.height));
  };

  it('e marks a notice as read and as unread, and the focus stays at it', async () => {
    for (const title of ['Tar the hull', 'Oil the winch']) {
      const task = await app.as(team.manager).post('/api/tasks', { title, project_id: projectId });
      const user_id = team.member.user_id;
      await db()('notifications').insert({
        user_id,
        team_id: team.team_id,
        kind: 'assigned',
        message: title,
        item_id: task.body.task_id,
      });
    }
    await page.goto('/app/notifications');
    const unread = () => page.locator('ul.rows > li.new a').allTextContents();
    await press('j', 'j');
    await focusIs('Tar the hull');
    await press('e');
    await page.locator('li:not(.new):has(a:focus)', { hasText: 'Tar the hull' }).waitFor();
    expect(await unread()).toEqual(['Oil the winch']);
    await press('e');
    await page.locator('li.new:has(a:focus)', { hasText: 'Tar the hull' }).waitFor();
    expect(await unread()).toHaveLength(2);
  });

  it('j, k and arrows move a focus that is seen, x ticks, Escape unticks, Enter opens; then j, k and u go along the list', async () => {
    await openList();
    await press('j');
    await focusIs('Row 01');
    await press('j', 'ArrowDown', 'k', 'ArrowUp', 'j');
    await focusIs('Row 02');
    const seen = page.locator('#tasks li:has(a:focus)');
    expect(await seen.evaluate('element => getComputedStyle(element).boxShadow')).not.toBe('none');
    expect(await findFaults(page)).toEqual([]);
    await press('x', 'j', 'x');
    expect(await page.textContent('[data-ticked-tasks]')).toBe('2 ticked');
    await press('Escape');
    expect(await page.textContent('[data-ticked-tasks]')).toBe('Ticked tasks');
    await press('Enter');
    await page.waitForSelector('h1:has-text("Row 03")');
    await press('j');
    await page.waitForSelector('h1:has-text("Row 04")');
    await press('k');
    await page.waitForSelector('h1:has-text("Row 03")');
    await press('u');
    await page.waitForURL(`${app.url}${path}?sort=title`);
  });

  it('a chooser changes the task in focus; the focus and the scroll position stay, and z takes the change back', async () => {
    await openList();
    for (let at = 0; at < 30; at += 1) await press('j');
    await focusIs('Row 30');
    const scroll = await page.evaluate<number>('scrollY');
    expect(scroll).toBeGreaterThan(0);
    await press('p');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("urgent")');
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.type('hi');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Set priority to high")');
    await press('Enter');
    await notice('Priority is now high');
    await focusIs('Row 30');
    expect(await page.evaluate('scrollY')).toBe(scroll);
    expect(await page.textContent('body > p.unseen[role=status]')).toContain('Priority is now high');
    expect(await taskOf('Row 30')).toMatchObject({ priority: 'high' });
    await press('z');
    await notice('The change was undone');
    expect(await taskOf('Row 30')).toMatchObject({ priority: 'medium' });
    await focusIs('Row 30');
  });

  it('keys behind Enter wait for the answer of the palette, and act on the next row', async () => {
    await openList();
    await press('j');
    await focusIs('Row 01');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/app/palette?*', async (route) => {
      await held;
      await route.continue();
    });
    await press('p');
    await page.keyboard.type('low');
    await press('Enter', 'j', 'p');
    await page.keyboard.type('high');
    await press('Enter');
    release();
    await until(async () => (await taskOf('Row 02')).priority === 'high');
    expect((await taskOf('Row 01')).priority).toBe('low');
    await page.unroute('**/app/palette?*');
    // Who leaves the palette presses nothing any more.
    await openList();
    await press('j', 'p');
    await page.route('**/app/palette?*', (route) => route.abort());
    await page.keyboard.type('urgent');
    await press('Enter', 'j', 'Escape');
    await page.unroute('**/app/palette?*');
    expect(await page.locator('#palette[open]').count()).toBe(0);
    expect((await taskOf('Row 01')).priority).toBe('low');
    expect(window.complaints.splice(0).every((text) => text.includes('ERR_FAILED'))).toBe(true);
  });

  it('e marks as done, and the next row comes into focus; i and a assign, d sets a day by words, C a cycle', async () => {
    await app.as(team.member).post('/api/sprints', { team_id: team.team_id, name: 'Spring' });
    await openList();
    await press('j', 'j', 'e');
    await notice('Marked as done');
    await focusIs('Row 03');
    expect(await taskOf('Row 02')).toMatchObject({ status: 'done' });
    await press('i');
    await notice('Assigned to you');
    expect(await taskOf('Row 03')).toMatchObject({ assigned_to: team.member.user_id });
    await press('d');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('2031-05-01');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("1 May")');
    await press('Enter');
    await notice('Due 1 May');
    await press('Shift+C');
    await page.waitForSelector('#palette-results [role=option]:has-text("Spring")');
    await page.keyboard.type('spring');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Spring")');
    await press('Enter');
    await notice('Moved to Spring');
    expect((await taskOf('Row 03')).cycle_id).not.toBeNull();
  });

  it('a task that e closes leaves the focus to the next one, also where it stays in the list', async () => {
    await page.goto(`${path}?sort=title&show=all`);
    await press('j', 'j', 'e');
    await notice('Marked as done');
    await focusIs('Row 03');
    expect(await taskOf('Row 02')).toMatchObject({ status: 'done' });
    // Opened again, it keeps the focus.
    await press('k', 'e');
    await notice('Moved to To do');
    await focusIs('Row 02');
  });

  it('who comes back from a task is at its row, or at that of the last one', async () => {
    await openList();
    await press('j', 'j', 'j', 'Enter');
    await page.waitForSelector('h1:has-text("Row 03")');
    await page.goBack();
    await focusIs('Row 03');
    await press('j', 'Enter');
    await page.waitForSelector('h1:has-text("Row 04")');
    await press('j');
    await page.waitForSelector('h1:has-text("Row 05")');
    await press('u');
    await focusIs('Row 05');
  });

  it('what was ticked stays ticked when it has been changed and undone, until Escape', async () => {
    await openList();
    await press('j', 'x', 'Shift+J', 'p');
    await page.waitForSelector('#palette-results [role=option]');
    await page.keyboard.type('urgent');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("urgent")');
    await press('Enter');
    await notice('2 tasks changed');
    const ticked = async () => [
      await page.locator('#tasks input:checked').count(),
      await page.textContent('[data-ticked-tasks]'),
    ];
    expect(await ticked()).toEqual([2, '2 ticked']);
    await press('i');
    await page.locator('#tasks .assignee.who').nth(1).waitFor();
    expect(await taskOf('Row 01')).toMatchObject({ priority: 'urgent', assigned_to: team.member.user_id });
    expect(await taskOf('Row 02')).toMatchObject({ priority: 'urgent', assigned_to: team.member.user_id });
    await press('z');
    await notice('2 changes were undone');
    expect(await ticked()).toEqual([2, '2 ticked']);
    await press('Escape', 'Escape');
    expect(await ticked()).toEqual([0, 'Ticked tasks']);
  });

  it('keys act on rows that a mouse has ticked', async () => {
    await openList();
    for (const title of ['Row 02', 'Row 04']) await page.click(`[aria-label="Tick ${title}"]`);
    await press('s');
    await page.waitForSelector('#palette-results [role=option]:has-text("In review")');
    await page.keyboard.type('in review');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("In review")');
    await press('Enter');
    await notice('2 tasks changed');
    expect(await taskOf('Row 04')).toMatchObject({ status: 'in_review' });
  });

  it('a saved view has the same rows: x and s change those that are ticked, a click on a status that row alone, and z takes it back', async () => {
    const view = { name: 'Rows', entity_type: 'task', sort: [{ field: 'title' }], filters: { project_id: [projectId] } };
    const { body } = await app.as(team.member).post('/api/saved-views', view);
    await page.goto(`/app/views/${body.view_id as string}`);
    await press('j', 'x', 'j', 'x', 's');
    await page.waitForSelector('#palette-results [role=group][aria-label="2 tasks"]');
    await page.keyboard.type('in progress');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("In progress")');
    await press('Enter');
    await notice('2 tasks changed');
    await page.waitForURL(/\/app\/views\//);
    expect(await taskOf('Row 02')).toMatchObject({ status: 'in_progress' });
    await page.click('[aria-label="Tick Row 05"]');
    await page.locator('#tasks li', { hasText: 'Row 03' }).locator('button.chip', { hasText: 'To do' }).click();
    await page.waitForSelector('#palette-results [role=group][aria-label="“Row 03”"]');
    expect(await awayFromPill('Row 03')).toBeLessThan(20);
    expect(await findFaults(page)).toEqual([]);
    await page.click('#palette-results [role=option]:has-text("In review")');
    await notice('Moved to In review');
    await focusIs('Row 03');
    expect([(await taskOf('Row 03')).status, (await taskOf('Row 05')).status]).toEqual(['in_review', 'todo']);
    await press('z');
    await notice('The change was undone');
    expect(await taskOf('Row 03')).toMatchObject({ status: 'todo' });
  });

  it('a tick stays with its task when Home follows a change of the order', async () => {
    const { user_id } = team.member;
    const add = (title: string, due_date: string) =>
      app.as(team.member).post('/api/tasks', { title, project_id: projectId, assigned_to: user_id, due_date });
    await add('Second', '2019-02-02');
    await add('Third', '2019-02-03');
    await page.goto('/app');
    await page.click('[aria-label="Tick Third"]');
    await add('First', '2019-02-01');
    await page.waitForSelector('#tasks li.group:first-child + li:has-text("First")');
    const { task_id } = await taskOf('Third');
    await app.as(team.admin).patch(`/api/tasks/${task_id as string}`, { due_date: '2019-01-01' });
    await page.waitForSelector('#tasks li.group:first-child + li:has-text("Third")');
    const ticked = page.locator('#tasks input:checked');
    expect([await ticked.count(), await ticked.getAttribute('aria-label')]).toEqual([1, 'Tick Third']);
    await press('Escape');
  });

  it('Ctrl K lists the actions of ticked tasks first, and of the open task; a kind opens its chooser', async () => {
    await openList();
    await press('j', 'x', 'j', 'x', 'Control+k');
    await page.waitForSelector('#palette-results [role=group][aria-label="2 tasks"]');
    expect(await page.textContent('#palette-results [aria-selected=true] .grow')).toBe('Mark as done');
    await press('ArrowDown', 'ArrowDown', 'Enter');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Set status to To do")');
    await press('ArrowDown', 'Enter');
    await notice('2 tasks changed');
    expect(await taskOf('Row 02')).toMatchObject({ status: 'in_progress' });
    await page.goto(`/app/items/${(await taskOf('Row 05')).task_id}`);
    await press('Control+k');
    await page.waitForSelector('#palette-results [role=group][aria-label="“Row 05”"]');
    await page.keyboard.type('urgent');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("Set priority to urgent")');
    await press('Enter');
    await notice('Priority is now urgent');
    await press('s');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("To do")');
    await press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
  });

  it('nothing happens while text is typed, with a modifier key, without a task, or with keys turned off', async () => {
    await openList();
    await press('c');
    await page.keyboard.type('jexisa');
    expect(await page.inputValue('#f-text')).toBe('jexisa');
    await page.fill('#f-text', '');
    await page.click('h1');
    await press('e', 's', 'x');
    expect(await page.locator('dialog[open], input[form=bulk]:checked').count()).toBe(0);
    await press('j', 'Alt+e', 'Control+i', 'Alt+s');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.evaluate(`localStorage.setItem('assent-single-keys-off', '1')`);
    await press('j', 'e', 's');
    await focusIs('Row 01');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.evaluate(`localStorage.removeItem('assent-single-keys-off')`);
    expect(await db()('tasks').where({ project_id: projectId, version: 1 })).toHaveLength(40);
  });

  it('Shift with an arrow moves a row of the manual order and a card in its column, which is announced, and Undo takes it back', async () => {
    await page.goto(`${path}?sort=manual_order`);
    await press('j', 'j', 'Shift+ArrowDown');
    await notice('Moved');
    await focusIs('Row 02');
    const titles = async (rows: string) => (await page.locator(rows).allTextContents()).slice(0, 4);
    expect(await titles('#tasks strong')).toEqual(['Row 01', 'Row 03', 'Row 02', 'Row 04']);
    await page.goto(`${path}/board`);
    const cards = '[data-status=todo] li > a';
    expect(await titles(cards)).toEqual(['Row 01', 'Row 03', 'Row 02', 'Row 04']);
    await page.locator(cards).nth(1).focus();
    await press('Shift+ArrowUp');
    await notice('Moved');
    await focusIs('Row 03');
    expect(await titles(cards)).toEqual(['Row 03', 'Row 01', 'Row 02', 'Row 04']);
    expect(await page.textContent('body > p.unseen[role=status]')).toContain('Moved');
    await press('z');
    await notice('The change was undone');
    expect(await titles(cards)).toEqual(['Row 01', 'Row 03', 'Row 02', 'Row 04']);
    await page.locator(cards).first().focus();
    await press('Shift+ArrowUp');
    expect(await page.textContent('body > p.unseen[role=status]')).toContain('It is the first one here');
    await page.goto(`${path}/board?sort=priority`);
    await page.locator(cards).first().focus();
    await press('Shift+ArrowDown');
    expect(await page.textContent('body > p.unseen[role=status]')).toContain('Choose the manual order');
  });

  /** Drags to the upper edge of an element, without scrolling between. */
  const drag = async (from: Locator, to: Locator) => {
    const [start, end] = [await from.boundingBox(), await to.boundingBox()];
    if (!start || !end) throw new Error('There is nothing to drag');
    await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width / 2, end.y + 6, { steps: 5 });
    await page.mouse.move(end.x + end.width / 2, end.y + 4);
    await page.mouse.up();
  };

  it('a card and a row are dragged to a place', async () => {
    await page.setViewportSize({ width: 1280, height: 1200 });
    await page.goto(`${path}/board`);
    const cards = page.locator('[data-status=todo] li');
    await drag(cards.nth(3), cards.nth(0));
    await notice('Moved');
    expect((await page.locator('[data-status=todo] li > a').allTextContents()).slice(0, 3)).toEqual([
      'Row 04',
      'Row 01',
      'Row 02',
    ]);
    await cards.nth(1).dragTo(page.locator('[data-status=in_progress] ul'));
    await notice('Moved to In progress');
    await page.goto(`${path}?sort=manual_order`);
    const rows = page.locator('#tasks > li');
    await drag(rows.nth(2), rows.nth(0));
    await notice('Moved');
    expect(await page.locator('#tasks strong').first().textContent()).toBe('Row 02');
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('a finger moves a row and a card by buttons, which a mouse does not see', async () => {
    await page.goto(`${path}?sort=manual_order`);
    expect(await page.isVisible('[data-shift]')).toBe(false);
    const phone = await openWindow(browser as Browser, app.url, {
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 844 },
      storageState: await page.context().storageState(),
    });
    await phone.page.goto(`${path}?sort=manual_order`);
    const boxOf = (one: string) => phone.page.locator(`#tasks li:first-child ${one}`).boundingBox();
    const [tick, circle, title] = await Promise.all(['input[type=checkbox]', '.finish', 'strong'].map(boxOf));
    if (!tick || !circle || !title) throw new Error('A row lacks something');
    // What finishes the task takes no line of its own.
    expect([tick.x + tick.width <= circle.x, circle.x + circle.width <= title.x]).toEqual([true, true]);
    expect([circle.y < title.y + title.height, circle.y + circle.height > title.y]).toEqual([true, true]);
    const first = () => phone.page.locator('#tasks strong').allTextContents();
    const [one, two] = await first();
    await phone.page.tap('#tasks li:first-child [data-shift="1"]');
    await phone.page.locator('.notice', { hasText: 'Moved' }).waitFor();
    expect((await first()).slice(0, 2)).toEqual([two, one]);
    expect(await findFaults(phone.page)).toEqual([]);
    await phone.page.goto(`${path}/board`);
    const cards = () => phone.page.locator('[data-status=todo] li > a').allTextContents();
    const before = await cards();
    await phone.page.tap('[data-status=todo] li:nth-child(2) [data-shift="-1"]');
    await phone.page.locator('.notice', { hasText: 'Moved' }).waitFor();
    expect((await cards()).slice(0, 2)).toEqual([before[1], before[0]]);
    expect(await findFaults(phone.page)).toEqual([]);
    expect(phone.complaints).toEqual([]);
    await phone.close();
  });

  it('j at the end of a page goes to the first row of the next one, and k back to the last one', async () => {
    const more = Array.from({ length: 12 }, (_, at) => ({ title: `Row ${at + 41}`, project_id: projectId }));
    await app.as(team.member).post('/api/tasks/bulk', more);
    await openList();
    await press('j', 'k');
    expect(await page.textContent('body > p.unseen[role=status]')).toBe('This is the first row');
    await page.locator('#tasks a.grow').last().focus();
    await focusIs('Row 50');
    await press('j');
    await focusIs('Row 51');
    await press('j', 'j');
    expect(await page.textContent('body > p.unseen[role=status]')).toBe('This is the last row');
    await press('k', 'k');
    await focusIs('Row 50');
    expect(new URL(page.url()).searchParams.get('offset')).toBeNull();
  });

  it('two people who move one card: the second is told, and the card stays where the first has put it', async () => {
    await page.goto(`${path}/board`);
    const card = page.locator('[data-status=todo] li', { hasText: 'Row 05' }).locator('a');
    await card.focus();
    const { task_id } = await taskOf('Row 05');
    await app.as(team.manager).patch(`/api/tasks/${task_id}`, { status: 'done' });
    await press('Shift+ArrowUp');
    await notice('The task has changed since you opened the page, so it stays where it is.');
    expect(await page.locator('[data-status=done] li', { hasText: 'Row 05' }).count()).toBe(1);
    expect(await taskOf('Row 05')).toMatchObject({ status: 'done', position: null });
  });

  it('a filter applies when it is chosen, by pointer and by keys, with the focus where it was; its chip removes it', async () => {
    await page.goto(path);
    await page.fill('#f-text', 'Not sent yet');
    await page.click('h1');
    await openFilter();
    await page.click('#f-priority');
    const box = (value: string) => page.locator(`.pick input[name=priority][value=${value}]`);
    await box('high').click();
    await page.locator('.chips a', { hasText: 'Priority high' }).waitFor();
    // The boxes stay open for the next one, which is ticked by keys.
    expect([await page.evaluate('document.activeElement.value'), await box('high').isVisible()]).toEqual(['high', true]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.locator('.chips a', { hasText: 'Priority high or urgent' }).waitFor();
    expect(await page.locator('#said-priority').innerText()).toBe('high or urgent');
    await page.locator('.pick input[name=not][value=priority]').click();
    await page.locator('.chips a', { hasText: 'Priority not high or urgent' }).waitFor();
    expect(new URL(page.url()).searchParams.getAll('priority')).toEqual(['high', 'urgent']);
    expect(new URL(page.url()).searchParams.get('not')).toBe('priority');
    expect(await page.inputValue('#f-text')).toBe('Not sent yet');
    await page.reload();
    await page.locator('.chips a', { hasText: 'Priority not high or urgent' }).waitFor();
    await page.fill('#f-text', 'Not sent yet');
    await openFilter();
    await page.click('#f-priority');
    await page.locator('.pick input[name=not][value=priority]').click();
    await box('urgent').click();
    await page.locator('.chips a', { hasText: /^Priority high/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[title^=Filter]:focus').waitFor();
    expect(await page.inputValue('#f-text')).toBe('Not sent yet');
    const { number } = await taskOf('Row 07');
    await db()('tasks').where({ project_id: projectId }).update({ priority: 'high' });
    const { key } = await db()('teams').where({ team_id: team.team_id }).first('key');
    await page.focus('#f-q');
    await page.keyboard.type(`${key}-${number}`);
    await page.locator('#chips a', { hasText: `${key}-${number}` }).waitFor();
    expect(await page.locator('#tasks strong').allTextContents()).toEqual(['Row 07']);
    expect(await page.evaluate('document.activeElement.id')).toBe('f-q');
    expect(await page.inputValue('#f-text')).toBe('Not sent yet');
    expect(new URL(page.url()).searchParams.get('q')).toBe(`${key}-${number}`);
    await page.fill('#f-q', '');
    await page.locator('#chips a').nth(1).waitFor({ state: 'detached' });
    await page.fill('#f-text', '');
    await openFilter();
    await page.selectOption('#f-due', 'none');
    await page.waitForURL(/due=none/);
    await page.locator('#f-due:focus').waitFor();
    expect(new URL(page.url()).searchParams.get('priority')).toBe('high');
    expect(await findFaults(page)).toEqual([]);
    await page.click('.chips a');
    await page.locator('.chips a').nth(1).waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('priority')).toBeNull();
  });

  it('shows the whole placeholder of the search wherever there is a field, and no header is wider than its page', async () => {
    await page.goto('/app/cycles');
    for (const width of [390, 700, 1000, 1060, 1100, 1280, 1700]) {
      await page.setViewportSize({ width, height: 800 });
      const [text, room, overflow] = await page.evaluate<[number, number, number]>(`(() => {
        const field = document.getElementById('find');
        const style = getComputedStyle(field);
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = style.font;
        const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        const isShown = field.getClientRects().length > 0;
        return [isShown ? pen.measureText(field.placeholder).width : 0, isShown ? room : 0, document.documentElement.scrollWidth - innerWidth];
      })()`);
      expect([width, text <= room, overflow <= 0]).toEqual([width, true, true]);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('changes a task from the home page, and a row of a view', async () => {
    const { task_id } = await taskOf('Row 07');
    await app.as(team.member).patch(`/api/tasks/${task_id}`, { assigned_to: team.member.user_id, due_date: '2020-01-01' });
    await page.goto('/app');
    await page.locator('main a', { hasText: 'Row 07' }).focus();
    await press('p');
    await page.waitForSelector('#palette-results [aria-selected=true]:has-text("urgent")');
    await press('Enter');
    await notice('Priority is now urgent');
    const view = await app.as(team.member).post('/api/saved-views', {
      name: 'Of the project',
      entity_type: 'task',
      team_id: team.team_id,
      filters: { project_id: [projectId] },
      sort: [{ field: 'title' }],
    });
    await page.goto(`/app/views/${view.body.view_id}`);
    await press('j', 'e');
    await notice('Marked as done');
    expect(await taskOf('Row 01')).toMatchObject({ status: 'done' });
    await focusIs('Row 02');
  });

  it('the bar of a view changes what is shown at once, and what is saved when that is asked for', async () => {
    const view = { name: 'Of mine', entity_type: 'task', team_id: team.team_id, filters: { project_id: [projectId] } };
    const { body } = await app.as(team.member).post('/api/saved-views', view);
    const at = `/app/views/${body.view_id as string}`;
    const filters = async () => (await db()('saved_views').where({ view_id: body.view_id }).first('filters')).filters;
    await page.goto(at);
    expect(await page.isVisible('text=Save to this view')).toBe(false);
    await openFilter();
    await page.click('#f-priority');
    await page.locator('.pick input[name=priority][value=low]').click();
    await page.locator('#chips a', { hasText: 'Priority low' }).waitFor();
    expect(await filters()).toEqual(view.filters);
    await page.keyboard.press('Escape');
    await page.click('text=Reset');
    await page.waitForURL((url) => url.pathname === at && url.search === '');
    expect(await page.locator('#chips a', { hasText: 'Priority low' }).count()).toBe(0);
    await openFilter();
    await page.click('#f-priority');
    await page.locator('.pick input[name=priority][value=low]').click();
    await page.locator('#chips a', { hasText: 'Priority low' }).waitFor();
    await page.keyboard.press('Escape');
    await page.click('text=Save to this view');
    await notice('View saved');
    expect(await filters()).toEqual({ ...view.filters, priority: ['low'] });
    expect(await page.isVisible('text=Save to this view')).toBe(false);
  });

  it('hides the first steps for this reader until they are asked for', async () => {
    await page.goto('/app');
    await page.click('[data-hides=first-steps]');
    expect(await page.isVisible('#h-steps')).toBe(false);
    await page.reload();
    expect(await page.isVisible('#h-steps')).toBe(false);
    await page.goto('/app?steps=all');
    expect(await page.isVisible('#h-steps')).toBe(true);
  });
});
