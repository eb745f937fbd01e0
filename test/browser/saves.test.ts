import type { Browser, Route } from 'playwright-core';
import { createField, type TestField } from '../factories/custom-fields.js';
import { buildProject, buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, openWindow, signInPage, type Window, startSignedIn, type SignedIn } from './chromium.js';

// Fields at the side of a task that save themselves, custom ones among them.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let browser: Browser;
let team: TestTeam;
let taskId: string;
let window: Window;
const fields: Record<string, TestField> = {};

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window, browser } = signedIn);
  for (const type of ['text', 'number', 'date', 'boolean', 'select', 'multi_select', 'user', 'url'] as const)
    fields[type] = await createField(app, team, type);
});
beforeEach(async () => {
  taskId = (await buildTask(app, team, await buildProject(app, team), { title: 'Task' })).task_id;
  await window.page.goto(`/app/items/${taskId}`);
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const controlOf = (type: string) => `#cf-${fields[type]?.field_id}`;
const said = (text: string) => window.page.waitForSelector(`.notice.toast:has-text("${text}")`);
const isShown = (name: string) => window.page.locator('section.facts').getByRole('button', { name, exact: true }).isVisible();
const values = async () => {
  const { body } = await app.as(team.guest).get(`/api/custom-fields/values?entity_type=task&entity_id=${taskId}`);
  return Object.fromEntries(body.map(({ key, value }: { key: string; value: unknown }) => [key, value]));
};
/** Holds what is sent to the page of the task until the returned function lets it go. */
async function holdForms(): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isHeld = true;
  await window.page.route(new RegExp(`/app/items/${taskId}/(task|fields)$`), async (route) => {
    if (isHeld) held.push(route);
    else await route.continue();
  });
  return async () => {
    isHeld = false;
    for (const route of held) await route.continue();
  };
}

it('a custom field is saved when it is chosen, ticked, or left after typing, and Undo takes it back', async () => {
  const { page } = window;
  await page.selectOption(controlOf('select'), 'low');
  await said('A select changed');
  await page.selectOption(controlOf('user'), team.member.user_id);
  await said('A user changed');
  await page.click(`${controlOf('multi_select')} > summary`);
  await page.click(`${controlOf('multi_select')} label:has-text("high")`);
  await said('A multi_select changed');
  // The list stays open for the next one.
  await page.click(`${controlOf('multi_select')} label:has-text("low")`);
  await page.waitForSelector(`${controlOf('multi_select')} > summary:has-text("high, low")`);
  await page.fill(controlOf('number'), '3');
  await page.focus(controlOf('url'));
  await said('A number changed');
  expect(await values()).toEqual({
    a_select: 'low',
    a_user: team.member.user_id,
    a_multi_select: ['high', 'low'],
    a_number: 3,
  });
  await page.click('.notice >> text=Undo');
  await said('The change was undone: A number changed');
  expect(await values()).not.toHaveProperty('a_number');
});

it('a button shows while something typed is not saved, and no longer', async () => {
  const { page } = window;
  expect([await isShown('Save'), await isShown('Save the fields')]).toEqual([false, false]);
  await page.fill('#i-tags', 'quay');
  expect([await isShown('Save'), await isShown('Save the fields')]).toEqual([true, false]);
  await page.focus('#i-estimate');
  await said('Tags changed');
  expect(await isShown('Save')).toBe(false);
  await page.fill(controlOf('number'), 'many');
  await page.focus('#i-estimate');
  await page.waitForSelector('small.wrong:has-text("A number must be a number")');
  expect([await isShown('Save the fields'), await page.inputValue(controlOf('number'))]).toEqual([true, 'many']);
  await page.fill(controlOf('number'), '4');
  await page.click('text=Save the fields');
  await said('A number changed');
  expect([await isShown('Save the fields'), await values()]).toEqual([false, { a_number: 4 }]);
  window.complaints.length = 0;
});

it('what is chosen before the answer to another choice has come is saved after it, and shows', async () => {
  const { page } = window;
  const release = await holdForms();
  await page.selectOption('#i-priority', 'urgent');
  await page.selectOption('#i-status', 'in_progress');
  await page.selectOption(controlOf('boolean'), 'true');
  await page.selectOption(controlOf('select'), 'high');
  await release();
  await said('and A select changed');
  await page.waitForSelector('form[data-saves].unsaved', { state: 'detached' });
  const shown = ['#i-priority', '#i-status', controlOf('boolean'), controlOf('select')];
  expect(await Promise.all(shown.map((one) => page.inputValue(one)))).toEqual(['urgent', 'in_progress', 'true', 'high']);
  const { body } = await app.as(team.guest).get(`/api/tasks/${taskId}`);
  expect([body.priority, body.status, await values()]).toEqual(['urgent', 'in_progress', { a_boolean: true, a_select: 'high' }]);
});

it('without scripts each form has its button', async () => {
  const bare = await openWindow(browser, app.url, { javaScriptEnabled: false });
  await signInPage(bare.page, team.member.email);
  await bare.page.goto(`/app/items/${taskId}`);
  await bare.page.selectOption(controlOf('select'), 'low');
  await bare.page.click(`${controlOf('multi_select')} > summary`);
  await bare.page.check(`${controlOf('multi_select')} [value=high]`);
  await bare.page.click('text=Save the fields');
  await bare.page.waitForSelector('.notice:has-text("A select and A multi_select changed")');
  await bare.page.selectOption('#i-priority', 'low');
  await bare.page.click('section.facts >> text="Save"');
  await bare.page.waitForSelector('.notice:has-text("Priority changed")');
  expect(await values()).toEqual({ a_select: 'low', a_multi_select: ['high'] });
  await bare.page.context().close();
});

it('nothing at the side is cut off at 1280 pixels, and the page has no faults', async () => {
  const { page } = window;
  await app.services.db('users').where({ user_id: team.member.user_id }).update({ display_name: 'Nora Newcomer' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.reload();
  await page.selectOption('#i-assigned_to', team.member.user_id);
  await said('Assignee changed');
  const fits = await page.evaluate(`(() => {
    const select = document.getElementById('i-assigned_to');
    const text = document.createElement('span');
    text.style.font = getComputedStyle(select).font;
    text.style.position = 'absolute';
    text.style.whiteSpace = 'pre';
    text.textContent = select.selectedOptions[0].textContent;
    document.body.append(text);
    const { paddingLeft, paddingRight } = getComputedStyle(select);
    const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const { width } = text.getBoundingClientRect();
    text.remove();
    return width <= room;
  })()`);
  expect(fits).toBe(true);
  expect(await findFaults(page)).toEqual([]);
});

it('the lead and the days of a project are saved where they stand, on a phone too, and Undo takes one back', async () => {
  const { page } = window;
  const { project_id } = await buildProject(app, team);
  const stored = async () => {
    const { lead_id, end_date } = (await app.as(team.guest).get(`/api/projects/${project_id}`)).body;
    return [lead_id, end_date];
  };
  await page.goto(`/app/items/${project_id}`);
  await page.selectOption('#p-lead_id', team.member.user_id);
  await said('Lead changed');
  await page.fill('#p-end_date', '2030-01-31');
  await said('End date changed');
  expect(await stored()).toEqual([team.member.user_id, '2030-01-31']);
  expect(await page.locator('#form-facts button').isVisible()).toBe(false);
  await page.click('.notice.toast button:has-text("Undo")');
  await said('The change was undone');
  expect(await stored()).toEqual([team.member.user_id, null]);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.click('#fields > summary');
  await page.selectOption('#p-lead_id', '');
  await said('Lead changed');
  expect(await stored()).toEqual([null, null]);
  expect(await page.isVisible('#p-lead_id')).toBe(true);
  await page.setViewportSize({ width: 1280, height: 900 });
});
