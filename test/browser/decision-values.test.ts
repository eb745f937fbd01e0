import type { Browser } from 'playwright-core';
import { actionTypes, availableActions } from '../../api/automation/actions/registry.js';
import type { ActionLine } from '../../api/gate/staging/schema.js';
import { givePasswords } from '../api/web/browser.js';
import { buildManyKinds, buildWaiting, buildWorld, catalogue, SECRETS, type World } from '../factories/decisions.js';
import { buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { GATE } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { findFaults, launch, openWindow, signInPage, type Window } from './chromium.js';
import { expectAll, expectLeaves, FAULTS, readShown, type Staged, unfold } from './decision-page.js';

// A page of a decision, as a browser draws it: every value that a yes releases, each on the row of its label, on any screen.

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let team: TestTeam;
let world: World;
let browser: Browser | undefined;
let reader: Window;
const windows: Window[] = [];

async function open(person: Person, options: Parameters<typeof openWindow>[2] = {}): Promise<Window> {
  const window = await openWindow(browser as Browser, app.url, options);
  windows.push(window);
  await signInPage(window.page, person.email);
  return window;
}

beforeAll(async () => {
  app = await startApp();
  browser = await launch();
  team = await buildTeam(app);
  await givePasswords(app);
  world = await buildWorld(app, team);
  reader = await open(team.manager);
});
afterAll(async () => {
  await Promise.all(windows.map((window) => window.close()));
  await browser?.close();
  await app.close();
});

const decision = async (kind: 'gate' | 'plan', id: string): Promise<{ actions: ActionLine[] }> =>
  (await app.as(team.manager).get(`/api/approvals/${kind}/${id}`)).body;
const ACTIONS = availableActions().filter(({ type }) => type !== GATE.type);
const everything = (name: string) =>
  buildWaiting(
    world,
    ACTIONS.map(({ type }) => type),
    name,
  );

it.each(ACTIONS.map((action) => [action.type, action] as const))('a gate shows every value: %s', async (type, { params }) => {
  const given = catalogue(world)[type] ?? [];
  expect([...new Set(given.flatMap((each) => Object.keys(each)))].toSorted()).toEqual(Object.keys(params.shape).toSorted());
  const { run_id } = await buildWaiting(world, [type], `Only ${type}`);
  const { page } = reader;
  await page.goto(`/app/approvals/gate/${run_id}`);
  const { actions } = await decision('gate', run_id);
  expect(actions).toHaveLength(given.length);
  if (type in actionTypes) expect(actions.map(({ refused }) => refused)).toEqual(given.map(() => null));
  const shown = await readShown(page);
  expectAll(shown, actions);
  const { staged } = await app.services.db('gates').where({ run_id }).first();
  const steps: Staged[] = JSON.parse(staged).actions;
  expectLeaves(shown, steps, world.words);
  const html = await page.content();
  const marks = steps.flatMap(({ secrets }) => Object.keys(secrets ?? {}));
  for (const secret of [...Object.values(SECRETS), ...marks]) expect(html).not.toContain(secret);
  expect(reader.complaints).toEqual([]);
});

it('a plan shows every value of several kinds of actions', async () => {
  const plan = await buildManyKinds(world);
  const { page } = reader;
  await page.goto(`/app/approvals/plan/${plan.action_id}`);
  const { actions } = await decision('plan', plan.action_id);
  expect(new Set(plan.actions.map(({ tool }) => tool)).size).toBe(10);
  const shown = await readShown(page);
  expectAll(shown, actions);
  expectLeaves(shown, plan.actions, { ...world.words, $0: 'of step 0' });
  // What a heading names is there before the yes.
  expect(shown.find(({ heading }) => heading.startsWith('Change project'))?.heading).toContain('Apollo of the tests');
  expect(reader.complaints).toEqual([]);
});

const LOOKS = [390, 1280].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));

it.each(LOOKS)('every value stands beside its label, and none is cut: $width wide, $scheme', async ({ width, scheme }) => {
  const { run_id } = await everything(`All at ${width} ${scheme}`);
  const { action_id } = await buildManyKinds(world);
  const { page, complaints } = reader;
  await page.setViewportSize({ width, height: 844 });
  await page.emulateMedia({ colorScheme: scheme });
  for (const path of [`gate/${run_id}`, `plan/${action_id}`]) {
    await page.goto(`/app/approvals/${path}`);
    expect(await page.evaluate(FAULTS)).toEqual([]);
    await unfold(page);
    expect(await page.evaluate(FAULTS)).toEqual([]);
    expect(await findFaults(page)).toEqual([]);
    const shots = process.env['SHOTS'];
    if (shots) await page.screenshot({ path: `${shots}/${path.slice(0, 4)}-${width}-${scheme}.png`, fullPage: true });
  }
  expect(complaints).toEqual([]);
});

it('on a phone a long gate can be approved without scrolling', async () => {
  const { run_id } = await everything('On a phone');
  const { page } = reader;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/app/approvals/gate/${run_id}`);
  expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeGreaterThan(3 * 844);
  const approve = page.locator('form.decide button:has-text("Approve")');
  const box = (await approve.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  expect(box.height).toBeGreaterThanOrEqual(24);
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.y).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(390);
  expect(box.y + box.height).toBeLessThanOrEqual(844);
  const middle = `document.elementFromPoint(${box.x + box.width / 2}, ${box.y + box.height / 2})`;
  expect(await page.evaluate(`${middle}.closest('button').innerText`)).toContain('Approve');
  expect(await page.evaluate('scrollY')).toBe(0);
});

it('without scripts the gate is approved with a comment, and says who decided', async () => {
  const { run_id } = await everything('Without scripts');
  const look = { javaScriptEnabled: false, viewport: { width: 390, height: 844 } };
  const { page, complaints } = await open(team.manager, look);
  await page.goto(`/app/approvals/gate/${run_id}`);
  const { actions } = await decision('gate', run_id);
  expect(await page.locator('ol.changes > li').count()).toBe(actions.length);
  await page.click('details.comment summary');
  await page.fill('textarea[name=comment]', 'Read it all: <b>go on</b>, 漢字');
  await page.click('form.decide button:has-text("Approve")');
  await page.waitForSelector('.notice.good:has-text("Approved. The run continues.")');
  expect(await decision('gate', run_id)).toMatchObject({ state: 'approved', decided_by: team.manager.user_id });
  const { page: other } = await open(team.member, look);
  for (const [one, who] of [
    [page, 'You'],
    [other, world.words[team.manager.user_id]],
  ] as const) {
    await one.goto(`/app/approvals/gate/${run_id}`);
    expect(await one.innerText('.timeline')).toContain(`${who} approved`);
    expect(await one.innerText('.timeline blockquote')).toBe('Read it all: <b>go on</b>, 漢字');
    expect(await one.locator('button:has-text("Approve")').count()).toBe(0);
    expect(await one.evaluate(FAULTS)).toEqual([]);
  }
  expect(complaints).toEqual([]);
});
