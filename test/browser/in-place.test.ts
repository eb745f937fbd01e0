import type { Browser } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';

// A title and a text are edited where they stand.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser;
let team: TestTeam;
let project: { project_id: string };
let window: Window;
let taskId: string;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  browser = await launch();
  window = await openWindow(browser, app.url);
  await signIn();
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(async () => {
  await browser?.close();
  await app.close();
});

const TITLE = 'Old title';
const TEXT = 'Old words with [a link](/app/keys) in them';
beforeEach(async () => {
  taskId = (await buildTask(app, team, project, { title: TITLE, description: TEXT })).task_id;
});

async function signIn(): Promise<void> {
  const { page } = window;
  await signInPage(page, team.member.email);
}
const open = async () => {
  const { page } = window;
  await page.goto(`/app/items/${taskId}`);
  await page.evaluate('window.isSame = true');
  return page;
};
const stored = () => db()('tasks').where({ task_id: taskId }).first('title', 'description');
const focused = (what: string) => window.page.evaluate<unknown>(`document.activeElement.${what}`);
const said = (text: string) => window.page.locator('.notice', { hasText: text }).waitFor();
const edited = () => window.page.locator('.edited').count();

describe('a title', () => {
  it('is a field of the same size, font and place after a click, with the caret at it; Enter saves, Undo takes it back', async () => {
    const page = await open();
    expect(await page.isVisible('text=Edit title and description')).toBe(false);
    const looks = (selector: string) =>
      page.evaluate<unknown>(`(() => {
        const one = document.querySelector('${selector}');
        const { fontSize, fontWeight, fontFamily, lineHeight, color } = getComputedStyle(one);
        const { left, top, height } = one.getBoundingClientRect();
        return [fontSize, fontWeight, fontFamily, lineHeight, color, ...[left, top, height].map(Math.round)];
      })()`);
    const before = await looks('h1');
    await page.click('h1', { position: { x: 2, y: 12 } });
    expect(await looks('#i-title')).toEqual(before);
    expect([await focused('id'), await focused('selectionStart')]).toEqual(['i-title', 0]);
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.type('Not so ');
    await page.keyboard.press('Enter');
    await said('Title changed');
    expect([await page.textContent('h1'), await edited(), await page.evaluate('window.isSame')]).toEqual([
      `Not so ${TITLE}`,
      0,
      true,
    ]);
    expect(await stored()).toEqual({ title: `Not so ${TITLE}`, description: TEXT });
    await page.click('.notice >> text=Undo');
    await said('The change was undone');
    expect(await stored()).toEqual({ title: TITLE, description: TEXT });
  });

  it('gets its old words back by Escape, by leaving it empty, and by Enter without a change', async () => {
    const page = await open();
    await page.keyboard.press('r');
    await page.keyboard.type(' and more');
    await page.keyboard.press('Escape');
    expect([await page.textContent('h1'), await focused('dataset.keys')]).toEqual([TITLE, 'r']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.click('.crumbs', { position: { x: 2, y: 2 } });
    await page.waitForSelector('.edited', { state: 'detached' });
    expect(await page.textContent('h1')).toBe(TITLE);
    await page.keyboard.press('r');
    await page.keyboard.press('Enter');
    expect([await page.textContent('h1'), await edited(), await stored()]).toEqual([
      TITLE,
      0,
      { title: TITLE, description: TEXT },
    ]);
  });

  it('is saved by leaving it, while what is left it for keeps the focus and what is typed there', async () => {
    const page = await open();
    await page.click('h1');
    await page.fill('#i-title', 'Left');
    await page.click('#part-text .prose', { position: { x: 2, y: 8 } });
    await page.keyboard.type('Typed ');
    await said('Title changed');
    expect([await focused('id'), await page.inputValue('#i-description')]).toEqual(['i-description', `Typed ${TEXT}`]);
    await page.click('#c-content');
    await page.keyboard.type('A comment');
    await said('Description changed');
    expect([await focused('id'), await page.inputValue('#c-content')]).toEqual(['c-content', 'A comment']);
    expect(await stored()).toEqual({ title: 'Left', description: `Typed ${TEXT}` });
  });

  it('loses no letter typed elsewhere between the moment its answer is shown and the next one', async () => {
    const page = await open();
    let release = (): void => undefined;
    const typed = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/app/items/*/task', async (route) => {
      await typed;
      await route.continue();
    });
    await page.click('h1');
    await page.fill('#i-title', 'Left');
    await page.evaluate(
      `document.addEventListener('htmx:before:settle', () => setTimeout(() => document.execCommand('insertText', false, 'nt')), { once: true })`,
    );
    await page.click('#c-content');
    await page.keyboard.type('A comme');
    release();
    await said('Title changed');
    expect([await focused('id'), await page.inputValue('#c-content')]).toEqual(['c-content', 'A comment']);
    await page.unroute('**/app/items/*/task');
  });
});

describe('a text', () => {
  it('grows in its place; Ctrl and Enter save it', async () => {
    const page = await open();
    await page.click('#part-text .prose', { position: { x: 2, y: 8 } });
    const height = () => page.locator('#i-description').evaluate((one) => one.clientHeight);
    const before = await height();
    for (const line of ['First', 'Second', '']) {
      await page.keyboard.type(line);
      await page.keyboard.press('Enter');
    }
    expect(await height()).toBeGreaterThan(before * 2);
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Control+Enter');
    await said('Description changed');
    expect([await edited(), (await stored()).description]).toEqual([0, `First\nSecond\n\n${TEXT}`]);
  });

  it('that Escape left waits beside the stored one, also after another change, and can be continued or discarded', async () => {
    const page = await open();
    await page.click('[data-edits=i-description] [data-edit]');
    await page.keyboard.type(' and half a thought');
    await page.keyboard.press('Escape');
    expect([await page.isVisible('#part-text .prose'), await focused('textContent')]).toEqual([true, 'Continue']);
    await page.selectOption('#i-priority', 'urgent');
    await page.locator('form[data-saves] button').click();
    await said('Priority changed');
    await page.click('.in-place-bar >> text=Continue');
    expect(await page.inputValue('#i-description')).toBe(`${TEXT} and half a thought`);
    await page.click('.in-place-bar >> text=Cancel');
    await page.click('.in-place-bar >> text=Discard');
    expect([await page.locator('.in-place-bar').count(), (await stored()).description]).toEqual([0, TEXT]);
  });

  it('that Escape left keeps the focus at what is offered for it when something else of the task changes', async () => {
    const page = await open();
    await page.click('[data-edits=i-description] [data-edit]');
    await page.keyboard.type(' and half a thought');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.in-place-bar button:focus');
    await app.as(team.manager).patch(`/api/tasks/${taskId}`, { priority: 'urgent' });
    await until(async () => (await page.inputValue('#i-priority')) === 'urgent');
    expect(await focused('textContent')).toBe('Continue');
  });

  it('is not edited by selecting words, and its links lead where they say', async () => {
    const page = await open();
    const { x, y } = (await page.locator('#part-text .prose').boundingBox()) as { x: number; y: number };
    await page.mouse.move(x + 2, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 8, { steps: 4 });
    await page.mouse.up();
    expect([await edited(), await page.evaluate('String(getSelection()).length > 0')]).toEqual([0, true]);
    await page.click('#part-text a');
    await page.waitForURL('**/app/keys');
  });

  it('that is missing is added at its place', async () => {
    await db()('tasks').where({ task_id: taskId }).update({ description: null });
    const page = await open();
    await page.click('text=Add a description');
    await page.keyboard.type('Now there is one');
    await page.click('.in-place-bar >> text=Save');
    await said('Description changed');
    expect((await stored()).description).toBe('Now there is one');
  });
});

describe('what cannot be saved', () => {
  it('is said where it was typed', async () => {
    const page = await open();
    await page.click('[data-edits=i-description] [data-edit]');
    await page.fill('#i-description', 'x'.repeat(2_001));
    await page.keyboard.press('Control+Enter');
    await page.locator('#part-text #h-description').waitFor();
    expect([await focused('id'), await page.inputValue('#i-description')]).toEqual(['i-description', 'x'.repeat(2_001)]);
    await page.fill('#i-description', 'Short');
    await page.click('.in-place-bar >> text=Save');
    await said('Description changed');
  });

  it('since another changed it too shows both, and leaving it replaces nothing', async () => {
    const page = await open();
    await page.click('h1');
    await page.fill('#i-title', 'Mine');
    await app.as(team.manager).patch(`/api/tasks/${taskId}`, { title: 'Theirs' });
    await page.keyboard.press('Enter');
    await page.waitForSelector('.collision:has-text("Title: now “Theirs”"), .collision:has-text("Theirs")');
    expect([await page.inputValue('h1 #i-title'), await focused('id')]).toEqual(['Mine', 'i-title']);
    await page.click('#c-content');
    expect((await stored()).title).toBe('Theirs');
    await page.click('.in-place-bar >> text=Save');
    await said('Title changed');
    expect((await stored()).title).toBe('Mine');
  });

  it('is saved, and a collision shown, also where another field is chosen, which is saved after it', async () => {
    const page = await open();
    await page.click('[data-edits=i-description] [data-edit]');
    await page.fill('#i-description', 'By the side');
    await page.focus('#i-priority');
    await page.selectOption('#i-priority', 'low');
    await said('Priority changed');
    expect((await stored()).description).toBe('By the side');
    await page.click('[data-edits=i-description] [data-edit]');
    await page.fill('#i-description', 'Mine');
    await app.as(team.manager).patch(`/api/tasks/${taskId}`, { description: 'Theirs' });
    await page.focus('#i-priority');
    await page.selectOption('#i-priority', 'high');
    await page.locator('.collision:has-text("Theirs")').waitFor();
    expect(await page.inputValue('#i-description')).toBe('Mine');
    expect((await stored()).description).toBe('Theirs');
  });

  it('says beside the field what another changed while it is edited', async () => {
    const follows = window.page.waitForResponse((response) => response.url().includes('/app/live'));
    const page = await open();
    await follows;
    await page.click('h1');
    await page.fill('#i-title', 'Mine');
    await app.as(team.manager).patch(`/api/tasks/${taskId}`, { title: 'Theirs' });
    await page.locator('[data-edits] [data-news=title]').waitFor({ timeout: 30_000 });
    expect(await page.inputValue('#i-title')).toBe('Mine');
    await page.keyboard.press('Escape');
  });
});

it('a project and a note are edited in the same way', async () => {
  const { page } = window;
  await page.goto(`/app/items/${project.project_id}`);
  await page.click('h1');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Port');
  await page.keyboard.press('Enter');
  await said('Name changed');
  expect([await page.textContent('h1'), await page.isVisible('text=Edit name and description')]).toEqual(['Port', true]);
  const { body } = await app.as(team.member).post('/api/notes', { team_id: team.team_id, title: 'Minutes', content: 'Few' });
  await page.goto(`/app/items/${(body as { note_id: string }).note_id}`);
  await page.click('#part-text .prose');
  await page.keyboard.type(' words');
  await page.keyboard.press('Control+Enter');
  await said('Note saved');
  expect(await page.textContent('#part-text .prose')).toContain('Few words');
});

it('what was typed when the session had ended comes back after signing in', async () => {
  const page = await open();
  await page.click('h1');
  await page.fill('#i-title', 'Typed before it ended');
  await db()('sessions').update({ expires_at: new Date(0) });
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("You are signed out")');
  await signIn();
  await page.goto(`/app/items/${taskId}`);
  await page.waitForSelector('text=What you typed before your session expired is here again');
  expect([await page.inputValue('#i-title'), await page.isVisible('#i-title')]).toEqual(['Typed before it ended', true]);
});
