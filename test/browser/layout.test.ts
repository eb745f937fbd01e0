import { buildProject, buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, type Window, startSignedIn, type SignedIn } from './chromium.js';

// How the pages of tasks use the width of a window.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let team: TestTeam;
let path: string;
let taskPath: string;
let window: Window;

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window } = signedIn);
  const project = await buildProject(app, team);
  path = `/app/projects/${project.project_id}`;
  const { task_id } = await buildTask(app, team, project, { title: 'Task', assigned_to: team.member.user_id });
  taskPath = `/app/items/${task_id}`;
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const widthOf = (selector: string) =>
  window.page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().width`);

it('a page has the colours that its reader chose, whatever the system has', async () => {
  const { page } = window;
  const paper = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  const seen = [];
  for (const theme of ['auto', 'dark', 'light'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await app.as(team.member).patch('/api/auth/me', { preferences: { theme } });
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      seen.push(await paper());
    }
  await app.as(team.member).patch('/api/auth/me', { preferences: { theme: 'auto' } });
  await page.emulateMedia({ colorScheme: 'light' });
  const [light, dark] = seen;
  expect(light).not.toBe(dark);
  expect(seen).toEqual([light, dark, dark, dark, light, light]);
});

it('a board fills a wide window, and a list stays readable', async () => {
  const { page } = window;
  await page.setViewportSize({ width: 1920, height: 1080 });
  await page.goto(`${path}/board`);
  expect(await widthOf('.board')).toBeGreaterThan(1700);
  await page.goto(path);
  expect(await widthOf('#tasks')).toBeLessThan(1400);
});

it.each([641, 700, 800, 820, 900, 960, 1023, 1024, 1056, 1057, 1100, 1152, 1153, 1200, 1280, 1440])(
  'the header fits into %i px, with both counts',
  async (width) => {
    const { page } = window;
    await page.setViewportSize({ width, height: 800 });
    await page.goto(path);
    await page.evaluate(`for (const link of document.querySelectorAll('nav.places a[href="/app/approvals"], #places > a.bell[href$="/notifications"]')) {
    link.querySelector('.count')?.remove();
    link.insertAdjacentHTML('beforeend', '<span class="count">50</span>');
  }`);
    const { inner, outer, wrapped } = await page.evaluate<{ inner: number; outer: number; wrapped: number }>(`({
    inner: Math.max(...[...document.querySelectorAll('.bar *:not(.sheet, .sheet *, .unseen)')].map((one) => one.getBoundingClientRect().right)),
    outer: document.querySelector('.bar').getBoundingClientRect().right - parseFloat(getComputedStyle(document.querySelector('.bar')).paddingRight),
    wrapped: document.querySelector('.bar').getBoundingClientRect().height,
  })`);
    expect([inner <= outer + 1, wrapped < 72]).toEqual([true, true]);
    // Nothing overlaps or has two lines; what is near at a desk is in the menu elsewhere.
    const boxes = await page.evaluate<{ left: number; right: number; height: number }[]>(`
    [...document.querySelectorAll('.bar > .brand, #places a:not(.sheet *), details.more > summary, form.find')]
      .map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0)
      .map(({ left, right, height }) => ({ left, right, height })).sort((a, b) => a.left - b.left)`);
    for (const [at, box] of boxes.entries()) {
      expect(box.height).toBeLessThan(56);
      if (at > 0) expect(box.left).toBeGreaterThanOrEqual((boxes[at - 1]?.right ?? 0) - 0.5);
    }
    const near = await page.evaluate<number>(
      `[...document.querySelectorAll('nav.near a')].filter((one) => one.checkVisibility()).length`,
    );
    expect(near).toBe(width < 1024 ? 0 : 3);
    await page.click('details.more > summary');
    expect(await page.isVisible('details.more a[href="/app/automations"]')).toBe(width < 1024);
    expect(await page.isVisible('details.more a[href="/app/teams"]')).toBe(true);
  },
);

it('what is near is marked itself, and the menu only where it holds it', async () => {
  const { page } = window;
  const color = (selector: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/app/automations');
    expect((await color('details.more > summary')) === 'rgba(0, 0, 0, 0)').toBe(width === 1280);
    expect(await page.isVisible('nav.near a[aria-current=page]')).toBe(width === 1280);
    expect(await findFaults(page)).toEqual([]);
  }
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.waitForURL('**/app/agent');
});

it('filters are one line, whose button opens them, and the tasks begin high on a phone and on a screen', async () => {
  const { page } = window;
  for (const [width, height, top] of [
    [390, 844, 520],
    [1280, 800, 380],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(`${path}?assigned_to=me&priority=medium`);
    expect(await page.isVisible('#f-priority')).toBe(false);
    const chips = await page.locator('#chips .chip').allInnerTexts();
    expect(chips.map((text) => text.replace(/\s*\(remove\)/, '').trim())).toEqual(['Assigned to me', 'Priority medium']);
    expect(await page.evaluate<number>(`document.querySelector('#tasks').getBoundingClientRect().top`)).toBeLessThan(top);
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Shift+F');
    expect(await page.isVisible('#f-priority')).toBe(true);
    expect(await findFaults(page)).toEqual([]);
    // By keys alone, which act on nothing behind the menu.
    await page.locator('#f-show:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('#f-assigned_to:focus').waitFor();
    await page.keyboard.press('s');
    expect(await page.locator('#palette[open]').count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.isVisible('#f-priority')).toBe(false);
  }
});

it('the fields of a task are one line of chips on a phone, which opens them, stays open after a choice, and are in sight elsewhere', async () => {
  const { page } = window;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(taskPath);
  expect((await page.textContent('details.fields > summary'))?.replace(/\s+/g, ' ').trim()).toBe(
    'Fields: To do P You No date Medium',
  );
  expect(await page.isVisible('#i-priority')).toBe(false);
  const top = await page.evaluate<number>(`document.querySelector('#part-text').getBoundingClientRect().top`);
  expect(top).toBeLessThan(400);
  expect(await findFaults(page)).toEqual([]);
  await page.click('details.fields > summary');
  await page.selectOption('#i-priority', 'urgent');
  await page.waitForSelector('.notice:has-text("Priority changed")');
  expect([await page.isVisible('#i-priority'), await page.textContent('#part-chips .chip >> nth=3')]).toEqual([true, 'Urgent']);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(taskPath);
  expect([await page.isVisible('#i-priority'), await page.isVisible('details.fields > summary')]).toEqual([true, false]);
});
