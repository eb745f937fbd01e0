import type { Browser, Page } from 'playwright-core';
import { buildProject, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, openWindow, type Window, startSignedIn, type SignedIn } from './chromium.js';

// Lists and boards by a mouse and by a finger.

import.meta.jest.setTimeout(180_000);

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
  const rows = Array.from({ length: 12 }, (_, at) => ({
    title: `Row ${String(at + 1).padStart(2, '0')}`,
    project_id: projectId,
  }));
  await app.as(team.member).post('/api/tasks/bulk', rows);
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const notice = (text: string) => page.locator('.notice', { hasText: text }).waitFor();
const taskOf = (title: string) => db()('tasks').where({ title, project_id: projectId }).first();
const rowOf = (title: string) => page.locator('#tasks li', { hasText: title });
/** Whether what the row at a place offers for the due date can be seen. */
const opacity = (at: number, on = page) =>
  on.evaluate<string>(
    `getComputedStyle(document.querySelectorAll('#tasks > li')[${at - 1}].querySelector('button.none.due')).opacity`,
  );

it('a row in hand offers each empty field: a click opens its chooser, and the change stays at its row', async () => {
  await page.goto(`${path}?sort=title`);
  const due = rowOf('Row 02').locator('button.none.due');
  await rowOf('Row 05').hover();
  expect(await opacity(2)).toBe('0');
  await rowOf('Row 02').hover();
  expect(await opacity(2)).toBe('1');
  expect(await findFaults(page)).toEqual([]);
  await due.click();
  await page.click('#palette-results [role=option]:has-text("Due tomorrow")');
  await notice('Due ');
  await rowOf('Row 02').getByRole('button', { name: 'Nobody is assigned' }).click();
  await page.click('#palette-results [role=option]:has-text("Assign to me")');
  await notice('Assigned to you');
  await rowOf('Row 02').getByRole('button', { name: 'Medium', exact: true }).click();
  await page.click('#palette-results [role=option]:has-text("urgent")');
  await notice('Priority is now urgent');
  expect(await taskOf('Row 02')).toMatchObject({ priority: 'urgent', assigned_to: team.member.user_id });
  expect([(await taskOf('Row 02')).due_date === null, await rowOf('Row 02').locator('button.none').count()]).toEqual([false, 0]);
  /* By keys a row in focus shows what it offers too. */
  await page.mouse.move(0, 0);
  await rowOf('Row 03').locator('a').focus();
  expect([await opacity(3), await opacity(4)]).toEqual(['1', '0']);
});

it('a finger sees what a row offers without pointing at it', async () => {
  const phone = await openWindow(browser as Browser, app.url, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
    storageState: await page.context().storageState(),
  });
  await phone.page.goto(`${path}?sort=title`);
  expect(await findFaults(phone.page)).toEqual([]);
  const assign = phone.page.locator('#tasks li', { hasText: 'Row 02' }).getByRole('button', { name: 'Nobody is assigned' });
  expect(await opacity(2, phone.page)).toBe('1');
  await assign.tap();
  await phone.page.locator('#palette-results [role=option]', { hasText: 'Assign to me' }).tap();
  await phone.page.locator('.notice', { hasText: 'Assigned to you' }).waitFor();
  expect(phone.complaints).toEqual([]);
  await phone.close();
});

it('Shift with a click ticks the rows between, and takes them off again; with j, k and arrows the rows are ticked one by one', async () => {
  const boxOf = (at: number) => page.getByLabel(`Tick Row ${String(at).padStart(2, '0')}`);
  const ticked = async () =>
    (
      await page.evaluate<string[]>(
        `[...document.querySelectorAll('#tasks input:checked')].map((one) => one.getAttribute('aria-label').slice(-2))`,
      )
    ).map(Number);
  const counted = () => page.textContent('[data-ticked-tasks]');
  await page.goto(`${path}?sort=title`);
  await boxOf(2).click();
  await boxOf(5).click({ modifiers: ['Shift'] });
  expect([await ticked(), await counted()]).toEqual([[2, 3, 4, 5], '4 ticked']);
  await boxOf(4).click({ modifiers: ['Shift'] });
  expect([await ticked(), await counted()]).toEqual([[2, 3], '2 ticked']);
  /* The words of a row are part of it, once something is ticked. */
  await boxOf(7).click();
  await rowOf('Row 09')
    .locator('a')
    .click({ modifiers: ['Shift'] });
  expect([await ticked(), await counted()]).toEqual([[2, 3, 7, 8, 9], '5 ticked']);
  expect(await page.evaluate('String(getSelection())')).toBe('');
  expect(page.url()).toContain(path);
  await page.keyboard.press('Escape');
  expect(await ticked()).toEqual([]);
  await rowOf('Row 03').locator('a').focus();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('Shift+J', 'Shift+J');
  expect([await ticked(), await counted()]).toEqual([[3, 4, 5], '3 ticked']);
  expect(await page.textContent('body > p.unseen[role=status]')).toContain('3 ticked');
  await press('Shift+K', 'Shift+ArrowUp', 'Shift+ArrowUp');
  expect(await ticked()).toEqual([2, 3]);
  await press('Shift+ArrowDown', 'Shift+ArrowDown');
  expect(await ticked()).toEqual([3, 4]);
  await press('j', 'j', 'Shift+J');
  expect([await ticked(), await counted()]).toEqual([[3, 4, 6, 7], '4 ticked']);
  await press('p');
  await page.click('#palette-results [role=option]:has-text("high")');
  await notice('4 tasks changed');
  expect([(await taskOf('Row 04')).priority, (await taskOf('Row 05')).priority]).toEqual(['high', 'medium']);
  await page.goto('/app/keys');
  expect(await page.locator('#key-list dt', { hasText: 'Shift J' }).count()).toBe(1);
});

it('z takes back one change after the other, also from another page, and Shift Z makes them again; one that another met is passed over', async () => {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const rowState = async (title: string) => {
    const { priority, assigned_to } = await taskOf(title);
    return [priority, assigned_to !== null];
  };
  await page.goto(`${path}?sort=title`);
  await page.evaluate('sessionStorage.clear()');
  await rowOf('Row 01').locator('a').focus();
  await press('i');
  await notice('Assigned to you');
  await press('p');
  await page.click('#palette-results [role=option]:has-text("high")');
  await notice('Priority is now high');
  await rowOf('Row 02').locator('a').focus();
  await press('i');
  await notice('Assigned to you');
  await page.goto(`${path}?sort=created_at`);
  await press('z');
  await notice('The change was undone: Assigned to you');
  expect(await rowState('Row 02')).toEqual(['medium', false]);
  await press('z');
  await notice('The change was undone: Priority is now high');
  await press('z');
  await notice('The change was undone: Assigned to you');
  expect(await rowState('Row 01')).toEqual(['medium', false]);
  await press('z');
  expect(await page.textContent('body > p.unseen[role=status]')).toContain('There is nothing to undo');
  await press('Shift+Z');
  await notice('The change was made again: Assigned to you');
  await press('Shift+Z');
  await notice('The change was made again: Priority is now high');
  expect(await rowState('Row 01')).toEqual(['high', true]);
  /* A new change ends what could be made again. */
  await rowOf('Row 03').locator('a').focus();
  await press('i');
  await notice('Assigned to you');
  await press('Shift+Z');
  expect(await page.textContent('body > p.unseen[role=status]')).toContain('There is nothing to make again');
  await app.as(team.admin).patch(`/api/tasks/${(await taskOf('Row 03')).task_id as string}`, { priority: 'low' });
  await press('z');
  await notice('Nothing was undone.');
  expect(await page.textContent('.notice')).toContain('It was: Assigned to you');
  await page.click('.notice button:has-text("Undo the one before")');
  await notice('The change was undone: Priority is now high');
  expect([await rowState('Row 01'), await rowState('Row 03')]).toEqual([
    ['medium', true],
    ['low', true],
  ]);
  await page.click('.notice button:has-text("Redo")');
  await notice('The change was made again: Priority is now high');
});

it('a message lies over no row of the end of a list, nor over the bar of what is ticked', async () => {
  for (const size of [
    { width: 1280, height: 500 },
    { width: 390, height: 700 },
  ]) {
    await page.setViewportSize(size);
    await page.goto(`${path}?sort=title`);
    await rowOf('Row 11').locator('a').focus();
    await page.keyboard.press('e');
    await notice('Marked as done');
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const [top = 0, bottom = 0, last = 0, end = 0] = await page.evaluate<number[]>(
      `[document.querySelector('.notice.toast'), document.querySelector('#tasks > li:last-child')]
        .flatMap((one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; })`,
    );
    expect(top >= end || bottom <= last).toBe(true);
    await rowOf('Row 10').locator('input[type=checkbox]').check();
    const bar = await page.evaluate<number[]>(
      `[document.querySelector('.notice.toast'), document.getElementById('bulk')]
        .flatMap((one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; })`,
    );
    expect((bar[1] as number) <= (bar[2] as number) || (bar[0] as number) >= (bar[3] as number)).toBe(true);
    await rowOf('Row 10').locator('input[type=checkbox]').uncheck();
    await page.keyboard.press('z');
    await notice('The change was undone');
  }
  await page.setViewportSize({ width: 1280, height: 720 });
});

it('the buttons of a card cover nothing of it and nothing of the next one', async () => {
  await app.as(team.member).patch(`/api/tasks/${(await taskOf('Row 01')).task_id as string}`, {
    due_date: '2031-05-01',
    tags: ['a longer tag of the harbour', 'another tag'],
    assigned_to: team.member.user_id,
  });
  await page.goto(`${path}/board`);
  const card = page.locator('.board li', { hasText: 'Row 01' });
  await card.hover();
  const button = card.locator('.moves button', { hasText: 'to In progress' });
  const covered = await page.evaluate<string[]>(`(() => {
    const box = document.querySelector('.board li:hover .moves').getBoundingClientRect();
    const meets = (one) => one.bottom > box.top && one.top < box.bottom && one.right > box.left && one.left < box.right;
    const texts = [...document.querySelectorAll('.board li > :is(a, p:not(.moves)), .board .tags > .chip')];
    return texts.filter((one) => meets(one.getBoundingClientRect())).map((one) => one.textContent);
  })()`);
  expect(covered).toEqual([]);
  expect(await findFaults(page)).toEqual([]);
  await button.click();
  await notice('Moved to In progress');
});

it('Enter adds a line at once whose last word is one member, and completes a name that is begun', async () => {
  const { username } = await db()('users').where({ user_id: team.manager.user_id }).first('username');
  await page.goto(path);
  const line = page.locator('#f-text');
  await line.pressSequentially(`Grease it @${username as string}`);
  await line.press('Enter');
  await notice('Added “Grease it”');
  expect(await taskOf('Grease it')).toMatchObject({ assigned_to: team.manager.user_id });
  await db()('users').where({ user_id: team.manager.user_id }).update({ display_name: 'Gita Rao' });
  await page.goto(path);
  await line.pressSequentially('Paint it @gita');
  await page.locator('#mention-names').waitFor();
  await line.press('Enter');
  await notice('Added “Paint it”');
  expect(await taskOf('Paint it')).toMatchObject({ assigned_to: team.manager.user_id });
  await line.pressSequentially('Scrub it @git');
  await page.locator('#mention-names').waitFor();
  await line.press('Enter');
  expect(await line.inputValue()).toBe(`Scrub it @${username as string} `);
  await line.fill('');
  await line.pressSequentially('Clean it due feb 30');
  await page.locator('.line-read .wrong', { hasText: '“feb 30” is not a date' }).waitFor();
});
