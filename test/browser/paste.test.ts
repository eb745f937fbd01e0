import type { Browser } from 'playwright-core';
import { buildCookie, buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { launch, openWindow } from './chromium.js';

// A picture that is pasted or dropped into a text is attached to the task and stands in the text.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});

/** Gives a field a file as the clipboard or a drag would. */
const give = (kind: 'paste' | 'drop', field: string, size = 0) => `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 30 });
  const blob = await new Promise((done) => canvas.toBlob(done));
  const data = new DataTransfer();
  data.items.add(new File([blob, new Uint8Array(${size})], 'crane.png', { type: 'image/png' }));
  const options = { bubbles: true, cancelable: true };
  const event = ${kind === 'paste' ? "new ClipboardEvent('paste', { ...options, clipboardData: data })" : "new DragEvent('drop', { ...options, dataTransfer: data })"};
  document.querySelector(${JSON.stringify(field)}).dispatchEvent(event);
})()`;

it('puts a pasted picture into a comment, and a dropped one into the description; both are attached', async () => {
  const { task_id } = await buildTask(app, team, await buildProject(app, team), { description: 'Old words' });
  const { page, complaints, close } = await openWindow(browser, app.url);
  const [name = '', value = ''] = (await buildCookie(app, team.member)).split(/=(.*)/);
  /** Waits until a condition of the page is true. */
  const holds = (condition: string) => until(() => page.evaluate<boolean>(condition));
  await page.context().addCookies([{ name, value, url: app.url }]);
  await page.goto(`/app/items/${task_id}`);
  await page.fill('#c-content', 'Look at this:');
  await page.evaluate(give('paste', '#c-content'));
  await holds(
    `/\\n!\\[crane\\.png\\]\\(\\/app\\/files\\/[0-9a-f-]{36}\\/picture\\)/.test(document.querySelector('#c-content').value)`,
  );
  await page.click('text=Add the comment');
  await holds(`document.querySelector('article.comment img[alt="crane.png"]')?.naturalWidth === 40`);
  await holds(`document.querySelector('.thumb img')?.naturalWidth === 40`);
  await page.click('[data-edits=i-description] [data-edit]');
  await page.evaluate(give('drop', '#i-description'));
  await holds(`document.querySelector('#i-description').value.includes('/picture)')`);
  await page.click('.in-place-bar button:has-text("Save")');
  await holds(`document.querySelector('#part-text img')?.naturalWidth === 40`);
  expect(await app.services.db('items').where({ title: 'crane.png' })).toHaveLength(2);
  await page.evaluate(give('paste', '#c-content', 26_214_400));
  await page.locator('small.wrong', { hasText: 'larger than 25 MB' }).waitFor();
  expect(await page.inputValue('#c-content')).toBe('');
  expect(complaints).toEqual([]);
  await close();
});
