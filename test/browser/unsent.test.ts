import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { launch, openWindow, signInPage, type Window } from './chromium.js';

// What was typed and not sent is there again, for the same user only.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser;
let team: TestTeam;
let window: Window;
let page: Page;
let path: string;
let taskId: string;
let project: { project_id: string };
const db = () => app.services.db;
const signIn = async ({ email }: Pick<Person, 'email'>) => {
  await signInPage(page, email);
};
const signOut = async () => {
  await page.click('summary:has-text("Account of")');
  await page.click('button:has-text("Sign out")');
  await page.waitForURL(/sign-in/);
};
/** Names of what the browser keeps, and the texts. */
const kept = () =>
  page.evaluate<string[]>(
    `Object.keys(localStorage).filter((key) => key.startsWith('assent-unsent')).flatMap((key) => JSON.parse(localStorage.getItem(key)).map(([, text]) => text))`,
  );
const SUBTASK = 'form.quick[action$="/subtasks"] input[name=text]';
const leave = () => page.goto('/app/keys');
const said = (text: string) => page.locator('.notice', { hasText: text }).waitFor();

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  project = await buildProject(app, team);
  browser = await launch();
});
beforeEach(async () => {
  taskId = (await buildTask(app, team, project, { title: 'Task', description: 'Old words' })).task_id;
  path = `/app/items/${taskId}`;
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

it('a comment, a description and a subtask come back on the page of their task, and a status is still saved at once', async () => {
  await page.goto(path);
  await page.fill('#c-content', 'Half a thought');
  await page.fill(SUBTASK, 'Half a task');
  await page.click('#part-text [data-edit]');
  await page.fill('#i-description', 'Half a text');
  await page.keyboard.press('Escape');
  await leave();
  await page.goto(`/app/items/${(await buildTask(app, team, project, { title: 'Another' })).task_id}`);
  expect(await page.inputValue('#c-content')).toBe('');
  await page.goto(path);
  expect([await page.inputValue('#c-content'), await page.inputValue(SUBTASK)]).toEqual(['Half a thought', 'Half a task']);
  expect(await page.textContent('#part-text')).toContain('What you typed is not saved');
  await page.selectOption('#i-status', 'in_review');
  await said('Status changed');
  expect(await page.inputValue('#c-content')).toBe('Half a thought');
  await page.click('#part-text button:has-text("Discard")');
  expect(await db()('tasks').where({ task_id: taskId }).first('description')).toEqual({ description: 'Old words' });
});

it('a reply comes back in its form, which is open again', async () => {
  const { body } = await app.as(team.manager).post(`/api/tasks/${taskId}/comments`, { content: 'Which one?' });
  const field = `#r-${body.comment_id as string}`;
  await page.goto(path);
  await page.click(`#comment-${body.comment_id as string} summary:has-text("Reply")`);
  // Text that is typed at once goes into the field that opened: on the word itself its letters would be keys that change the task.
  await page.keyboard.type('On it, pushing a fix now');
  expect(await page.inputValue(`#r-${body.comment_id as string}`)).toBe('On it, pushing a fix now');
  await page.fill(`#r-${body.comment_id as string}`, '');
  await page.fill(field, 'The left');
  await leave();
  await page.goto(path);
  expect([await page.isVisible(field), await page.inputValue(field)]).toEqual([true, 'The left']);
  await page.press(field, 'Control+Enter');
  await said('Reply added');
  expect([await page.textContent('.comment.reply .prose'), await kept()]).toEqual([expect.stringContaining('The left'), []]);
});

it('what is sent is kept no longer, what is refused is', async () => {
  await page.goto(path);
  await page.fill('#c-content', 'A whole thought');
  await leave();
  await page.goto(path);
  await page.click('button:has-text("Add the comment")');
  await said('Comment added');
  expect([await kept(), await page.inputValue('#c-content')]).toEqual([[], '']);
  const long = 'long '.repeat(2_001);
  await page.fill('#c-content', long);
  await page.click('button:has-text("Add the comment")');
  await page.waitForSelector('form[action$="/comments"] [role=alert]');
  await leave();
  await page.goto(path);
  expect(await page.inputValue('#c-content')).toBe(long);
  await page.fill('#c-content', '');
  await leave();
  expect(await kept()).toEqual([]);
});

it('a description that others changed meanwhile says so', async () => {
  await page.goto(path);
  await page.click('#part-text [data-edit]');
  await page.fill('#i-description', 'Half a text');
  await page.keyboard.press('Escape');
  await leave();
  await app.as(team.admin).patch(`/api/tasks/${taskId}`, { description: 'New words' });
  await page.goto(path);
  expect(await page.textContent('#part-text')).toContain('It has changed since you typed what is not saved');
  await app.as(team.admin).patch(`/api/tasks/${taskId}`, { description: 'Newest words' });
  await page.waitForSelector('#part-text :text("Newest words")');
  await page.click('#part-text button:has-text("Continue")');
  expect(await page.inputValue('#i-description')).toBe('Half a text');
});

it('signing out deletes it, and another user of the browser never has it', async () => {
  await page.goto(path);
  await page.fill('#c-content', 'For nobody else');
  await leave();
  expect(await kept()).toEqual(['For nobody else']);
  await signOut();
  expect(await kept()).toEqual([]);
  await signIn(team.member);
  await page.goto(path);
  expect(await page.inputValue('#c-content')).toBe('');
  await page.fill('#c-content', 'Nor this');
  await leave();
  // A request of a page that is still open would bring a cookie back.
  await page.goto('about:blank');
  await page.context().clearCookies();
  await signIn(team.admin);
  await page.goto(path);
  expect([await page.inputValue('#c-content'), await kept()]).toEqual(['', []]);
});

it('at most twenty are kept, the newest', async () => {
  await page.evaluate(
    `localStorage.setItem('assent-unsent:' + document.body.dataset.user, JSON.stringify(Array.from({ length: 20 }, (_, at) => ['form' + at, 'text' + at, ''])))`,
  );
  await page.goto(path);
  await page.fill('#c-content', 'The newest');
  await leave();
  const texts = await kept();
  expect([texts.length, texts[0], texts.at(-1)]).toEqual([20, 'text1', 'The newest']);
});
