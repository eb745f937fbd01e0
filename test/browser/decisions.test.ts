import type { Browser, Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { PASSWORD } from '../factories/accounts.js';
import { staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { buildRun, GATE } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { faultsOf, launch, openWindow, type Window } from './chromium.js';

/** The page of a decision, in a real browser: everything that a yes does is on it, in its place, on every screen. */
import.meta.jest.setTimeout(180_000);

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
let other: { task_id: string };
let browser: Browser | undefined;
const windows: Window[] = [];

beforeAll(async () => {
  app = await startApp();
  browser = await launch();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Rotate the keys', description: LONG, due_date: '2026-12-24' });
  other = await buildTask(app, team, project, { title: 'Second' });
  await givePasswords(app);
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});
afterEach(() => Promise.all(windows.splice(0).map((window) => window.close())));

const LONG = `${'A long text that folds, with every word of it in the page. '.repeat(12)}\n\nIts last line.`;
const HIDDEN = 'pay\u200bload \u202Egnp.exe';

async function open(person: Person, options: Parameters<typeof openWindow>[2] = {}): Promise<Page> {
  const window = await openWindow(browser as Browser, app.url, options);
  windows.push(window);
  await window.page.goto('/app/sign-in');
  await window.page.fill('[name=email]', person.email);
  await window.page.fill('[name=password]', PASSWORD);
  await window.page.press('[name=password]', 'Enter');
  await window.page.waitForURL(`${app.url}/app`);
  return window.page;
}

/** One action of every type, with all its parameters. */
const actionsOf = () => {
  const { task_id } = task;
  const { user_id } = team.member;
  return [
    GATE,
    {
      type: 'create_task',
      params: {
        ...project,
        title: 'New one',
        description: `${LONG} New.`,
        priority: 'urgent',
        due_date: '2027-02-03',
        assigned_to: user_id,
        tags: ['red', 'blue'],
      },
    },
    {
      type: 'update_task',
      params: {
        task_id,
        title: `Renamed ${HIDDEN}`,
        description: `${LONG} Changed.`,
        due_date: null,
        priority: 'low',
        parent_task_id: other.task_id,
      },
    },
    { type: 'set_task_status', params: { task_id, status: 'in_review' } },
    { type: 'assign_task', params: { task_id, assigned_to: user_id } },
    { type: 'add_comment', params: { task_id, content: `First line\nsecond: line\n${HIDDEN}` } },
    { type: 'create_note', params: { ...project, title: 'A note', content: LONG, kind: 'idea' } },
    { type: 'create_relation', params: { source_id: task_id, target_id: other.task_id, relation_type: 'blocks' } },
    { type: 'notify', params: { role: 'manager', message: `Look at this: ${HIDDEN}`, channel: 'email' } },
    { type: 'delay', params: { seconds: 90 } },
    {
      type: 'http_request',
      params: {
        method: 'PUT',
        url: 'https://93.184.216.34/a?b=c',
        headers: { 'X-Kind': 'release', Authorization: 'Bearer {{secret:DEPLOY}}' },
        body: { deep: [{ er: 'still' }], amount_due: 1 },
      },
    },
    { type: 'send_webhook', params: { url: 'https://93.184.216.34/hook', payload: { 'amount due': 9, list: ['x', 'y'] } } },
    {
      type: 'dispatch_runner_job',
      params: { labels: ['linux'], command: 'make release\nmake sign', env: { TARGET: 'prod' }, timeout_minutes: 7 },
    },
    { type: 'run_agent', params: { instruction: 'Tidy up what is old', link: [{ item_type: 'task', item_id: task_id }] } },
  ];
};

const readDecision = async (kind: string, id: string) => {
  const { status, body } = await app.as(team.manager).get(`/api/approvals/${kind}/${id}`);
  expect(status).toBe(200);
  return body as {
    actions: { verb: string; title: string | null; fields: { name: string; before: string | null; after: string | null }[] }[];
  };
};

/** Text as a browser shows it. */
const flat = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Everything that a person can read on the page, with every fold open. */
async function textOf(page: Page): Promise<string> {
  await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
  // A difference word by word has both texts, each in its own marks: what was and what will be are read apart.
  return flat(await page.innerText('main'));
}
const sideOf = async (page: Page, hidden: 'ins' | 'del'): Promise<string> => {
  await page.evaluate(
    `document.querySelectorAll('main ${hidden}').forEach((each) => { each.hidden = true; }); document.querySelectorAll('main .unseen').forEach((each) => { each.hidden = true; })`,
  );
  const text = flat(await page.innerText('main'));
  await page.evaluate(`document.querySelectorAll('main ${hidden}').forEach((each) => { each.hidden = false; })`);
  return text;
};

/** Returns the words of a decision that the page does not show. */
async function missingFrom(page: Page, { actions }: Awaited<ReturnType<typeof readDecision>>): Promise<string[]> {
  const whole = await textOf(page);
  const [was, will] = [await sideOf(page, 'ins'), await sideOf(page, 'del')];
  const shows = (text: string | null, ...places: string[]) => text === null || places.some((place) => place.includes(flat(text)));
  // A status has words on a page.
  const isStatus = (name: string) => name === 'status';
  return actions.flatMap(({ verb, title, fields }) => [
    ...[verb, title].filter((text) => !shows(text, whole)).map(String),
    ...fields.flatMap(({ name, before, after }) =>
      [
        shows(name, whole) ? [] : [name],
        isStatus(name) || shows(before, was, whole) ? [] : [`before: ${before}`],
        isStatus(name) || shows(after, will, whole) ? [] : [`after: ${after}`],
      ].flat(),
    ),
  ]);
}

/** Returns what stands wrong: a label without its value on its row, a value that is cut, a page that scrolls sideways. */
const layoutFaults = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const faults = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) faults.push('the page scrolls sideways: ' + root.scrollWidth);
    for (const label of document.querySelectorAll('main dl.facts > dt')) {
      const value = label.nextElementSibling;
      const [a, b] = [label.getBoundingClientRect(), value.getBoundingClientRect()];
      if (a.height === 0) continue;
      // An opened long text has the whole width, right below its label.
      if (value.querySelector(':scope > details[open]')) { if (b.top - a.bottom > 12) faults.push('far from ' + label.textContent); continue; }
      if (Math.abs(a.top - b.top) > 6) faults.push('no value beside ' + label.textContent);
      if (value.scrollWidth > value.clientWidth + 1) faults.push('cut: ' + label.textContent);
    }
    return faults;
  })()`);

it('the page of a gate shows every word of every kind of action, on a desk and on a phone', async () => {
  const { run_id } = await buildRun(app, team, { actions: actionsOf(), creator: team.manager });
  const decision = await readDecision('gate', run_id);
  expect(decision.actions.map(({ title, fields }) => fields.length > 0 || title !== null)).toEqual(
    actionsOf()
      .slice(1)
      .map(() => true),
  );
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    const page = await open(team.manager, { viewport: { width, height: 844 }, colorScheme });
    await page.goto(`/app/approvals/gate/${run_id}`);
    // On a phone the yes is in reach while one reads.
    const button = await page.locator('form.decide button:not([formaction])').boundingBox();
    if (width === 390) expect((button?.y ?? 999) + (button?.height ?? 0)).toBeLessThanOrEqual(844);
    expect(await layoutFaults(page)).toEqual([]);
    expect(await faultsOf(page, width === 390)).toEqual([]);
    expect(await missingFrom(page, decision)).toEqual([]);
    expect(await layoutFaults(page)).toEqual([]);
    const text = await page.innerText('main');
    expect(text).not.toContain('\u202E');
    expect(text).toContain('{{secret:DEPLOY}}');
    await page.goto(`/app/runs/${run_id}`);
    expect(await layoutFaults(page)).toEqual([]);
  }
});

it('so does the page of a plan', async () => {
  const plan = await staged(app, team.manager, [
    { tool: 'task.update', entity_id: task.task_id, params: { description: `${LONG} By a plan.`, priority: 'urgent' } },
    { tool: 'task.comment', entity_id: other.task_id, params: { content: LONG } },
    { tool: 'task.create', params: { ...project, title: 'By the agent', description: LONG } },
    { tool: 'task.delete', entity_id: other.task_id, params: {} },
  ]);
  const decision = await readDecision('plan', plan.action_id);
  const page = await open(team.manager, { viewport: { width: 390, height: 844 } });
  await page.goto(`/app/approvals/plan/${plan.action_id}`);
  expect(await layoutFaults(page)).toEqual([]);
  expect(await missingFrom(page, decision)).toEqual([]);
});

it('without scripts a person decides, says why, and sees who decided', async () => {
  const { run_id } = await buildRun(app, team, {
    actions: [GATE, { type: 'add_comment', params: { task_id: task.task_id, content: 'Done' } }],
  });
  const page = await open(team.manager, { javaScriptEnabled: false });
  await page.goto(`/app/approvals/gate/${run_id}`);
  await page.click('details.comment summary');
  await page.fill('textarea[name=comment]', 'Looks right to me');
  await page.click('form.decide button:not([formaction])');
  await page.goto(`/app/runs/${run_id}`);
  const text = await page.innerText('main');
  expect(text).toContain('Looks right to me');
  expect(text).toMatch(/approved/);
});
