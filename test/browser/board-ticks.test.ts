import type { Page } from 'playwright-core';
import { buildProject, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { findFaults, type Window, startSignedIn, type SignedIn } from './chromium.js';

// Cards of a board are ticked and changed together, as rows are.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let team: TestTeam;
let window: Window;
let page: Page;
let projectId: string;
const db = () => app.services.db;

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window, page } = signedIn);
  projectId = (await buildProject(app, team)).project_id;
  const rows = Array.from({ length: 5 }, (_, at) => ({ title: `Card ${at + 1}`, project_id: projectId }));
  await app.as(team.member).post('/api/tasks/bulk', rows);
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const card = (title: string) => page.locator('.board li', { hasText: title });
const ticked = () => page.locator('.board input[name=task]:checked').count();

it('x ticks a card, Shift J and K extend, and the bar changes all of them', async () => {
  await page.goto(`/app/projects/${projectId}/board?sort=title`);
  await card('Card 2').locator('a').focus();
  await page.keyboard.press('x');
  expect([await ticked(), await page.locator('form.bulk').isVisible()]).toEqual([1, true]);
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('Shift+J');
  expect(await ticked()).toBe(3);
  await page.keyboard.press('Shift+K');
  expect(await ticked()).toBe(2);
  expect(await findFaults(page)).toEqual([]);
  await page.selectOption('#b-priority', 'urgent');
  await page.click('form.bulk button[value=change]');
  await page.locator('.notice', { hasText: '2 tasks changed' }).waitFor();
  expect(await db()('tasks').where({ project_id: projectId, priority: 'urgent' }).orderBy('title').pluck('title')).toEqual([
    'Card 2',
    'Card 3',
  ]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect([await ticked(), await page.locator('form.bulk').isVisible()]).toEqual([0, false]);
});

it('a key of a task is for all that are ticked, and a card in hand shows its box', async () => {
  await page.goto(`/app/projects/${projectId}/board?sort=title`);
  const opacity = (title: string) =>
    card(title)
      .locator('input')
      .evaluate(
        (box: unknown) =>
          (globalThis as unknown as { getComputedStyle(of: unknown): { opacity: string } }).getComputedStyle(box).opacity,
      );
  await card('Card 4').hover();
  expect([await opacity('Card 4'), await opacity('Card 1')]).toEqual(['1', '0']);
  await card('Card 4').locator('input').check();
  await card('Card 5').locator('input').check();
  await page.keyboard.press('i');
  await page.locator('.notice', { hasText: '2 tasks' }).waitFor();
  expect(await db()('tasks').where({ project_id: projectId, assigned_to: team.member.user_id })).toHaveLength(2);
});

it('many columns scroll to the side, each wide enough, with their names in sight', async () => {
  for (const name of ['One', 'Two', 'Three', 'Four'])
    await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name, status: 'in_progress' });
  await app.as(team.member).post(
    '/api/tasks/bulk',
    Array.from({ length: 30 }, (_, at) => ({ title: `More ${at}`, project_id: projectId })),
  );
  await page.setViewportSize({ width: 1280, height: 600 });
  await page.goto(`/app/projects/${projectId}/board`);
  const widths = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.board > section')].map((one) => one.getBoundingClientRect().width)`,
  );
  expect(widths).toHaveLength(8);
  expect(Math.min(...widths)).toBeGreaterThanOrEqual(220);
  await page.evaluate(`document.getElementById('board').scrollTo(300, 900)`);
  const [board = 0, head = 0] = await page.evaluate<number[]>(
    `['board', 'h-todo'].map((id) => document.getElementById(id).getBoundingClientRect().top)`,
  );
  expect(Math.abs(head - board)).toBeLessThan(3);
});
