import type { Browser, Page } from 'playwright-core';
import { createField, setFields, type TestField } from '../factories/custom-fields.js';
import { buildProject, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { findFaults, openWindow, type Window, startSignedIn, type SignedIn } from './chromium.js';

// Custom fields on rows and cards by a click, by a key, in the bar and in the palette.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let team: TestTeam;
let severity: TestField;
let browser: Browser;
let window: Window;
let page: Page;
let path: string;
let projectId: string;
const db = () => app.services.db;

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window, page, browser } = signedIn);
  const options = ['#b3261e', '#8a5300', null, null].map((color, at) => ({ value: `S${at + 1}`, color }));
  severity = await createField(app, team, 'select', { name: 'Severity', options });
  await createField(app, team, 'boolean', { name: 'Customer waits' });
});
beforeEach(async () => {
  projectId = (await buildProject(app, team)).project_id;
  path = `/app/projects/${projectId}`;
  const rows = Array.from({ length: 5 }, (_, at) => ({ title: `Row ${at + 1}`, project_id: projectId }));
  await app.as(team.member).post('/api/tasks/bulk', rows);
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const notice = (text: string) => page.locator('.notice', { hasText: text }).waitFor();
const idOf = async (title: string): Promise<string> =>
  (await db()('tasks').where({ title, project_id: projectId }).first('task_id')).task_id;
const valueOf = async (title: string): Promise<unknown> =>
  (
    await db()('custom_field_values')
      .where({ entity_id: await idOf(title), field_id: severity.field_id })
      .first()
  )?.value_text;
const rowOf = (title: string, on = page) => on.locator('#tasks li', { hasText: title });
const option = (text: string) => page.locator('#palette-results [role=option]', { hasText: text });
const chosen = (text: string) => page.waitForSelector(`#palette-results [aria-selected=true]:has-text("${text}")`);
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

it('a click on the pill of a row sets the field, the focus stays at the row, and z takes it back', async () => {
  await page.goto(`${path}?sort=title`);
  await rowOf('Row 2').hover();
  await rowOf('Row 2').getByRole('button', { name: 'Severity' }).click();
  await chosen('Severity: S1');
  expect(await page.getAttribute('#palette input', 'placeholder')).toBe('Set Severity…');
  expect(await findFaults(page)).toEqual([]);
  await option('Severity: S2').click();
  await notice('Severity is now S2');
  await rowOf('Row 2').getByRole('button', { name: 'Severity: S2' }).waitFor();
  expect(await valueOf('Row 2')).toBe('S2');
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('z');
  await notice('The change was undone: Severity is now S2');
  expect([await valueOf('Row 2'), await rowOf('Row 2').getByRole('button', { name: 'Severity' }).count()]).toEqual([
    undefined,
    1,
  ]);
});

it('f sets a field of the row in focus, by its value or by its name, and types its letter into a field', async () => {
  await page.goto(`${path}?sort=title`);
  await rowOf('Row 3').locator('a').first().focus();
  await press('f');
  await chosen('Set Severity…');
  await page.keyboard.type('s4');
  await chosen('Severity: S4');
  await press('Enter');
  await notice('Severity is now S4');
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Row 3');
  await press('f');
  await chosen('Set Severity…');
  await press('ArrowDown', 'Enter');
  await chosen('Customer waits: Yes');
  await press('Enter');
  await notice('Customer waits is now yes');
  await rowOf('Row 3').getByRole('button', { name: 'Customer waits: Yes' }).waitFor();
  await page.fill('form.quick input[name=text]', '');
  await page.keyboard.type('fff');
  expect([await page.inputValue('form.quick input[name=text]'), await page.locator('#palette[open]').count()]).toEqual([
    'fff',
    0,
  ]);
  await page.goto('/app/keys');
  expect(await page.locator('#key-list', { hasText: 'Set a custom field' }).count()).toBe(1);
});

it('the palette offers the fields of the ticked rows and of the task of a page', async () => {
  await page.goto(`${path}?sort=title`);
  await page.getByLabel('Tick Row 1').check();
  await page.getByLabel('Tick Row 2').check();
  await press('Control+k');
  await page.waitForSelector('#palette-results [role=option]');
  await page.keyboard.type('severity s3');
  await chosen('Severity: S3');
  await press('Enter');
  await notice('2 tasks changed');
  expect([await valueOf('Row 1'), await valueOf('Row 2'), await valueOf('Row 3')]).toEqual(['S3', 'S3', undefined]);
  await page.goto(`/app/items/${await idOf('Row 4')}`);
  await press('Control+k');
  await page.waitForSelector('#palette-results [role=option]');
  await page.keyboard.type('severity');
  await option('Set Severity…').waitFor();
  await option('Severity: S1').click();
  await notice('Severity is now S1');
  expect(await page.inputValue(`#cf-${severity.field_id}`)).toBe('S1');
});

it('the bar sets a field of all ticked rows, which stay ticked, and one Undo takes it back', async () => {
  await page.goto(`${path}?sort=title`);
  for (const at of [1, 2, 3]) await page.getByLabel(`Tick Row ${at}`).check();
  await page.selectOption('#b-cf_severity', { label: 'S1' });
  expect(await findFaults(page)).toEqual([]);
  await page.click('form.bulk button[value=change]');
  await notice('3 tasks changed');
  expect([await valueOf('Row 3'), await page.locator('#tasks input:checked').count()]).toEqual(['S1', 3]);
  await page.click('.notice button:has-text("Undo")');
  await notice('3 changes were undone');
  expect(await valueOf('Row 3')).toBeUndefined();
});

it('a change of another shows on the row, which keeps the focus; a choice made meanwhile replaces nothing', async () => {
  const follows = page.waitForResponse((response) => response.url().includes('/app/live'));
  await page.goto(`${path}?sort=title`);
  await follows;
  await rowOf('Row 4').locator('a').first().focus();
  await setFields(app, team, [{ field: severity, task_id: await idOf('Row 5'), value: 'S1' }]);
  await rowOf('Row 5').getByRole('button', { name: 'Severity: S1' }).waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Row 4');
  await rowOf('Row 5').getByRole('button', { name: 'Severity: S1' }).focus();
  await setFields(app, team, [{ field: severity, task_id: await idOf('Row 5'), value: 'S2' }]);
  await rowOf('Row 5').getByRole('button', { name: 'Severity: S2' }).waitFor();
  expect(await page.evaluate('document.activeElement.value')).toContain('cf_severity:');
  /* What the row showed was set by now. */
  await press('Enter');
  await chosen('Severity: S1');
  await setFields(app, team, [{ field: severity, task_id: await idOf('Row 5'), value: 'S3' }]);
  await option('Severity: S4').click();
  await notice('Severity has another value by now');
  expect(await valueOf('Row 5')).toBe('S3');
});

it('a card has its pills too, and a phone shows values only', async () => {
  await setFields(app, team, [{ field: severity, task_id: await idOf('Row 1'), value: 'S1' }]);
  await page.goto(`${path}/board`);
  expect(await findFaults(page)).toEqual([]);
  await page.locator('.board li', { hasText: 'Row 1' }).getByRole('button', { name: 'Severity: S1' }).click();
  await option('Severity: S2').click();
  await notice('Severity is now S2');
  await page.locator('.board li', { hasText: 'Row 3' }).locator('a').focus();
  await press('f');
  await chosen('Set Severity…');
  await page.keyboard.type('s3');
  await chosen('Severity: S3');
  await press('Enter');
  await page.locator('.board li', { hasText: 'Row 3' }).getByRole('button', { name: 'Severity: S3' }).waitFor();
  await page.getByLabel('Tick Row 4').check();
  await page.selectOption('#b-cf_severity', { label: 'S2' });
  await page.click('form.bulk button[value=change]');
  await notice('One task changed');
  expect(await valueOf('Row 4')).toBe('S2');
  const storageState = await page.context().storageState();
  const phone = await openWindow(browser as Browser, app.url, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
    storageState,
  });
  await phone.page.goto(`${path}?sort=title`);
  expect(await findFaults(phone.page)).toEqual([]);
  const pills = (title: string) => rowOf(title, phone.page).locator('.cf:visible').count();
  expect([await pills('Row 1'), await pills('Row 2')]).toEqual([1, 0]);
  expect(await phone.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await rowOf('Row 1', phone.page).getByRole('button', { name: 'Severity: S2' }).tap();
  await phone.page.locator('#palette-results [role=option]', { hasText: 'Severity: none' }).tap();
  await phone.page.locator('.notice', { hasText: 'Severity is cleared' }).waitFor();
  expect([phone.complaints, await valueOf('Row 1')]).toEqual([[], undefined]);
  await phone.close();
});

it('what is chosen shows on the row before the answer, and goes again where the answer is a refusal', async () => {
  await page.goto(`${path}?sort=title`);
  await press('j', 'p');
  await chosen('Set priority to');
  const held: (() => void)[] = [];
  await page.route('**/app/tasks/change', async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.abort();
  });
  await page.keyboard.type('urgent');
  await chosen('Set priority to urgent');
  await page.keyboard.press('Enter');
  await rowOf('Row 1').locator('.pending:has-text("Urgent")').waitFor();
  await until(() => Promise.resolve(held.length === 1));
  held[0]?.();
  await rowOf('Row 1').locator('.pending').waitFor({ state: 'detached' });
  await page.unroute('**/app/tasks/change');
  window.complaints.length = 0;
  expect(await rowOf('Row 1').locator('.priority').textContent()).toBe('Medium');
  await press('p');
  await chosen('Set priority to');
  await page.keyboard.type('1');
  await chosen('Set priority to urgent');
  await page.keyboard.press('Enter');
  await notice('Priority is now urgent');
  expect(
    await db()('tasks')
      .where({ task_id: await idOf('Row 1') })
      .first(),
  ).toMatchObject({ priority: 'urgent' });
});
