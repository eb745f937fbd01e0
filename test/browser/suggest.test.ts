import { buildProject, buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, type Window, startSignedIn, type SignedIn } from './chromium.js';

// An item is named in a field with suggestions.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let window: Window;
let original: { task_id: string };
let copy: { task_id: string };
const db = () => app.services.db;

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window } = signedIn);
  project = await buildProject(app, team, { name: 'Harbour' });
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

beforeEach(async () => {
  await db()('relations').delete();
  await db()('tasks').delete();
  original = await buildTask(app, team, project, { title: '<b>Broken</b> crane' });
  await buildTask(app, team, project, { title: 'Brochure' });
  copy = await buildTask(app, team, project, { title: 'Repair it' });
});
const open = async () => {
  await window.page.goto(`/app/items/${copy.task_id}`);
  return window.page;
};
const options = () => window.page.locator('#suggestions [role=option]');
const said = (text: string) => window.page.locator('.notice', { hasText: text }).waitFor();
const edges = () => db()('relations').select('source_id', 'target_id');
const row = () => db()('tasks').where({ task_id: copy.task_id }).first('status', 'resolution');

it('the choice of “Duplicate” asks of which task; arrow keys and Enter choose one and save, and Undo takes both back', async () => {
  const page = await open();
  await page.selectOption('#i-status', 'duplicate');
  expect(await page.evaluate('document.activeElement.id')).toBe('i-duplicate_of');
  await page.keyboard.type('bro');
  await options().nth(1).waitFor();
  const field = page.locator('#i-duplicate_of');
  expect(await field.getAttribute('role')).toBe('combobox');
  expect(await field.getAttribute('aria-activedescendant')).toBe('suggest-0');
  expect(await findFaults(page)).toEqual([]);
  const marked = async () => page.locator('#suggestions [aria-selected=true] bdi').textContent();
  while (!(await marked())?.includes('<b>Broken</b>')) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await said('Closed as a duplicate of');
  expect(await edges()).toEqual([{ source_id: copy.task_id, target_id: original.task_id }]);
  expect(await page.evaluate('document.activeElement.id')).toBe('i-status');
  await page.click('.notice button:has-text("Undo")');
  await said('The change was undone');
  expect([await row(), await edges()]).toEqual([{ status: 'todo', resolution: null }, []]);
});

it('a field that is left empty closes the task as a duplicate of none', async () => {
  const page = await open();
  await page.selectOption('#i-status', 'duplicate');
  await page.click('h2#h-comments');
  await said('Status changed');
  expect([await row(), await edges()]).toEqual([{ status: 'done', resolution: 'duplicate' }, []]);
});

it('a relation takes a suggestion by a click, and Escape closes the list', async () => {
  const page = await open();
  await page.click('summary:has-text("Relate to another item")');
  await page.locator('#r-target').pressSequentially('brok');
  await options().first().waitFor();
  await page.keyboard.press('Escape');
  expect([await options().count(), await page.inputValue('#r-target')]).toEqual([0, 'brok']);
  await page.keyboard.type('en');
  await options().first().click();
  expect(await page.inputValue('#r-target')).toContain('<b>Broken</b> crane');
  await page.click('button:has-text("Add relation")');
  await said('Relation added');
  expect(await edges()).toEqual([{ source_id: copy.task_id, target_id: original.task_id }]);
});

it('the key s asks of which task in the palette too', async () => {
  const page = await open();
  await page.keyboard.press('s');
  await page.click('#palette [data-act=duplicate]');
  await page.locator('#palette-query').pressSequentially('broken');
  await page.locator('#palette [role=option]:has-text("Broken")').waitFor();
  await page.keyboard.press('Enter');
  await said('Closed as a duplicate of');
  expect(await edges()).toEqual([{ source_id: copy.task_id, target_id: original.task_id }]);
});
