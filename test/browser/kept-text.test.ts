import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { PASSWORD } from '../factories/accounts.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, type Window } from './chromium.js';

// What was typed before a session expired comes back into its form, for the same user.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser;
let team: TestTeam;
let window: Window;
let page: Page;
let path: string;
let project: string;
const db = () => app.services.db;
const expire = () => db()('sessions').update({ expires_at: new Date(0) });
const signIn = async ({ email }: Pick<Person, 'email'>) => {
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', PASSWORD);
  await page.press('[name=password]', 'Enter');
};
const kept = () => page.evaluate<string | null>(`sessionStorage.getItem('assent-kept')`);

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  const place = await buildProject(app, team);
  const task = await buildTask(app, team, place, { title: 'Task' });
  path = `/app/items/${task.task_id}`;
  project = `/app/projects/${place.project_id}`;
  browser = await launch();
});
beforeEach(async () => {
  window = await openWindow(browser, app.url);
  ({ page } = window);
  await page.goto('/app/sign-in');
  await signIn(team.member);
  await page.waitForURL(`${app.url}/app`);
});
afterEach(async () => {
  expect(window.complaints).toEqual([]);
  await window.close();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});

it('fills the form again after signing in, and sends nothing by itself', async () => {
  await page.goto(path);
  await page.fill('#c-content', 'Long thoughts\nin two lines');
  await expire();
  await page.click('form:has(#c-content) button[type=submit]');
  await page.waitForSelector('h1:has-text("You are signed out")');
  expect(await page.inputValue('[data-name=content]')).toBe('Long thoughts\nin two lines');
  expect(await findFaults(page)).toEqual([]);
  await page.click('main a:has-text("Sign in")');
  await signIn(team.member);
  await page.waitForSelector('.notice:has-text("is here again. It was not sent.")');
  expect([await page.inputValue('#c-content'), await kept()]).toEqual(['Long thoughts\nin two lines', null]);
  expect(await db()('comments').where({ content: 'Long thoughts\nin two lines' })).toEqual([]);
  await page.click('form:has(#c-content) button[type=submit]');
  await page.waitForSelector('.notice:has-text("Comment added")');
  expect(await db()('comments').where({ content: 'Long thoughts\nin two lines' })).toHaveLength(1);
  await page.reload();
  expect(await page.inputValue('#c-content')).toBe('');
});

it('does so for a line that is sent without a new page', async () => {
  await page.goto(project);
  await page.fill('#f-text', 'Moor the barge');
  await expire();
  await page.press('#f-text', 'Enter');
  await page.waitForSelector('h1:has-text("You are signed out")');
  await page.click('main a:has-text("Sign in")');
  await signIn(team.member);
  await page.waitForSelector('.notice:has-text("is here again. It was not sent.")');
  expect(await page.inputValue('#f-text')).toBe('Moor the barge');
});

it('does not leave a line that is typed when the session has ended: sending it shows the text', async () => {
  await page.goto(project);
  // A list that nobody types beside asks for its changes, and leaves.
  await page.locator('#f-text').pressSequentially('Moor !hi');
  await page.waitForSelector('.line-read .chip');
  await expire();
  const asked = page.waitForResponse((response) => response.url().includes('/line?'));
  await page.locator('#f-text').pressSequentially('gh #barge');
  expect((await (await asked).allHeaders())['hx-redirect']).toContain('/app/sign-in');
  await page.press('#f-text', 'Enter');
  await page.waitForSelector('h1:has-text("You are signed out")');
  expect(await page.inputValue('[data-name=text]')).toBe('Moor !high #barge');
});

it('drops the text for another user, at the end of its time, and when the user signs out', async () => {
  const lose = async () => {
    await page.goto(path);
    await page.fill('#c-content', 'Private thoughts');
    await expire();
    await page.click('form:has(#c-content) button[type=submit]');
    await page.waitForSelector('[data-kept]');
    expect(await kept()).toContain('Private thoughts');
    await page.click('main a:has-text("Sign in")');
  };
  await lose();
  await signIn(team.admin);
  await page.waitForSelector('#c-content');
  expect([await page.inputValue('#c-content'), await kept()]).toEqual(['', null]);
  await lose();
  await page.evaluate(
    `sessionStorage.setItem('assent-kept', JSON.stringify({ ...JSON.parse(sessionStorage.getItem('assent-kept')), until: 0 }))`,
  );
  await signIn(team.admin);
  await page.waitForSelector('#c-content');
  expect([await page.inputValue('#c-content'), await kept()]).toEqual(['', null]);
  await lose();
  await signIn(team.admin);
  await page.waitForSelector('#c-content');
  await page.evaluate(`sessionStorage.setItem('assent-kept', '{}')`);
  await page.click('details.menu > summary:has(.avatar)');
  await page.click('text=Sign out');
  await page.waitForSelector('[name=password]');
  expect(await kept()).toBeNull();
});
