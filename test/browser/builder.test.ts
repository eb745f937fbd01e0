import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

// The builder of automations with its scripts: a draft is there again, and holds nothing that may be a secret.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser;
let team: TestTeam;
let window: Window;
let page: Page;

const signIn = async ({ email }: Pick<Person, 'email'>) => {
  await signInPage(page, email);
};
const stored = () => page.evaluate<string>('JSON.stringify(sessionStorage)');
const BLANK = '/app/automations/new?template=blank';
const addStep = async (type: string, place: number) => {
  await page.selectOption('#f-add_type', type);
  await page.click('button[value=add]');
  await page.waitForSelector(`#step-${place}`);
};

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await launch();
});
beforeEach(async () => {
  window = await openWindow(browser, app.url);
  ({ page } = window);
  await signIn(team.member);
});
afterEach(async () => {
  expect(window.complaints).toEqual([]);
  await window.close();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});

it('brings an unsaved draft back with its steps, and forgets it once it is saved', async () => {
  await page.goto(BLANK);
  await page.fill('#f-name', 'Grease on Monday');
  await addStep('create_task', 1);
  await page.fill('[name="s1.p.title"]', 'Grease the wheels');
  await page.goto('/app/automations');
  await page.goto(BLANK);
  await page.waitForSelector('.draft-note:has-text("What you typed and did not save is here again")');
  expect(await page.inputValue('#f-name')).toBe('Grease on Monday');
  expect(await page.inputValue('[name="s1.p.title"]')).toBe('Grease the wheels');
  expect(await findFaults(page)).toEqual([]);
  await page.goto('/app/automations/new');
  await page.waitForSelector('.draft-note:has-text("Grease on Monday")');
  await page.click('.draft-note a:has-text("Continue")');
  await page.waitForSelector('[name="s1.p.title"]');
  await page.click('button[value=save]');
  await page.waitForSelector('.notice:has-text("Created")');
  await page.goto(BLANK);
  await page.waitForSelector('#builder');
  expect([await page.inputValue('#f-name'), await page.locator('.draft-note').count()]).toEqual(['', 0]);
  expect(await stored()).not.toContain('Grease');
});

it('starts over on demand', async () => {
  await page.goto(BLANK);
  await page.fill('#f-name', 'Not this');
  await page.reload();
  await page.click('.draft-note button:has-text("Start over")');
  await page.waitForSelector('.draft-note', { state: 'detached' });
  expect([await page.inputValue('#f-name'), await stored()]).toEqual(['', expect.not.stringContaining('Not this')]);
});

it('keeps nothing of a request in the browser, nor of what was set aside, and nothing behind a sign-out', async () => {
  await page.goto(BLANK);
  await page.fill('#f-name', 'Call the port');
  await addStep('http_request', 1);
  await page.fill('[name="s1.p.url"]', 'https://example.com/?key=hush-url');
  await page.fill('[name="s1.p.headers"]', 'Authorization: Bearer hush-header');
  await page.fill('[name="s1.p.body"]', 'hush-body');
  expect(await stored()).toContain('Call the port');
  // Another action is chosen at once; what the request had is kept in the page alone.
  await page.selectOption('[name="s1.as"]', 'add_comment');
  await page.waitForSelector('[name="s1.p.content"]');
  await page.fill('[name="s1.p.content"]', 'A plain comment');
  expect(await page.inputValue('[name="s1.k.p.body"]')).toBe('hush-body');
  expect(await stored()).toContain('A plain comment');
  expect(await stored()).not.toContain('hush');
  await page.selectOption('[name="s1.as"]', 'http_request');
  await page.waitForSelector('[name="s1.p.url"]');
  expect(await page.inputValue('[name="s1.p.headers"]')).toBe('Authorization: Bearer hush-header');
  await page.reload();
  await page.waitForSelector('.draft-note:has-text("Fields of requests are not kept")');
  expect(await page.inputValue('[name="s1.p.url"]')).toBe('');
  await page.locator('form[action="/app/sign-out"] button').dispatchEvent('click');
  await page.waitForURL(/sign-in/);
  expect(await stored()).not.toContain('Call the port');
});

it('shows no draft to another user of the tab', async () => {
  await page.goto(BLANK);
  await page.fill('#f-name', 'Mine alone');
  await window.page.context().clearCookies();
  await signIn(team.manager);
  await page.goto(BLANK);
  await page.waitForSelector('#builder');
  expect([await page.inputValue('#f-name'), await page.locator('.draft-note').count()]).toEqual(['', 0]);
  await page.goto('/app/automations/new');
  expect(await page.locator('.draft-note').count()).toBe(0);
});

it('adds people of a list by name', async () => {
  await page.goto(BLANK);
  await addStep('notify', 1);
  const options = await page.locator('[data-append] option').allTextContents();
  await page.selectOption('[data-append]', options[1] as string);
  await page.selectOption('[data-append]', options[2] as string);
  expect(await page.inputValue('[name="s1.p.user_ids"]')).toBe(`${options[1]}\n${options[2]}`);
});

it('the form of a custom field asks for choices only where its type has some', async () => {
  await page.context().clearCookies();
  await signIn(team.manager);
  await page.goto(`${app.url}/app/teams/${team.team_id}/fields`);
  const isShown = () => page.isVisible('#f-options');
  expect(await isShown()).toBe(false);
  await page.selectOption('#f-field_type', 'multi_select');
  expect(await isShown()).toBe(true);
  await page.fill('#f-name', 'Severity');
  await page.fill('#f-options', 'high');
  await page.selectOption('#f-field_type', 'text');
  expect(await isShown()).toBe(false);
  // What is left in it is not dropped in silence.
  await page.click('text=Create field');
  await page.waitForSelector('#h-options');
  expect(await isShown()).toBe(true);
});

it('keeps the other fields of a gate open when a step is added', async () => {
  await page.goto(`${app.url}${BLANK}`);
  await page.click('#step-0 details.more-fields > summary');
  await addStep('notify', 1);
  expect(await page.isVisible('#step-0 details.more-fields[open] .param')).toBe(true);
  expect(await page.isVisible('#step-1 details.more-fields[open] .param')).toBe(false);
  await page.click('#step-0 details.more-fields > summary');
  await addStep('notify', 2);
  expect(await page.isVisible('#step-0 details.more-fields[open] .param')).toBe(false);
});
