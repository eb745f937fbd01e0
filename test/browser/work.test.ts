import { buildProject, buildTask, type TestTeam } from '../factories/people.js';
import { buildRun } from '../factories/runs.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { type Window, startSignedIn, type SignedIn } from './chromium.js';

// What the script of the pages of projects and tasks adds to their forms.

import.meta.jest.setTimeout(180_000);

let signedIn: SignedIn;
let app: TestApp;
let team: TestTeam;
let path: string;
let window: Window;
const db = () => app.services.db;

beforeAll(async () => {
  signedIn = await startSignedIn();
  ({ app, team, window } = signedIn);
  const project = await buildProject(app, team);
  path = `/app/projects/${project.project_id}`;
  for (const title of ['Third', 'Second', 'First']) await buildTask(app, team, project, { title });
});
afterEach(() => expect(window.complaints).toEqual([]));
afterAll(() => signedIn.end());

const focused = (what: string) => window.page.evaluate<string>(`document.activeElement.${what}`);

it('a line adds a task without a new page, and the focus stays for the next one; Undo removes it', async () => {
  const { page } = window;
  await page.goto(path);
  await page.evaluate('window.isSame = true');
  await page.fill('#f-text', 'Fourth !high');
  await page.press('#f-text', 'Enter');
  await page.waitForSelector('.notice:has-text("Added “Fourth” · high")');
  await page.waitForSelector('#f-text:focus');
  expect([await focused('id'), await page.inputValue('#f-text'), await page.evaluate('window.isSame')]).toEqual([
    'f-text',
    '',
    true,
  ]);
  await page.click('.notice >> text=Undo');
  await page.waitForSelector('.notice:has-text("The change was undone")');
  expect(await page.locator('#tasks li', { hasText: 'Fourth' }).count()).toBe(0);
});

it('a card moves by Shift and an arrow, which is announced, and by drag; the arrows alone go from card to card', async () => {
  const { page } = window;
  await page.goto(`${path}/board`);
  const cards = page.locator('[data-status=todo] li');
  const title = (await cards.first().locator('a').textContent()) as string;
  await cards.first().locator('a').focus();
  await page.keyboard.press('ArrowDown');
  expect(await focused('textContent')).not.toBe(title);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Shift+ArrowRight');
  await page.waitForSelector('.notice:has-text("Moved to In progress")');
  await page.locator('[data-status=in_progress] :focus').waitFor();
  expect(await focused('textContent')).toBe(title);
  expect(await page.textContent('body > p.unseen[role=status]')).toContain('Moved to In progress');
  expect(await db()('tasks').where({ title, team_id: team.team_id }).first('status')).toEqual({ status: 'in_progress' });
  const dragged = (await cards.first().locator('a').textContent()) as string;
  await cards.first().dragTo(page.locator('[data-status=done] ul'));
  await page.waitForSelector('.notice:has-text("Moved to Done")');
  expect(await db()('tasks').where({ title: dragged, team_id: team.team_id }).first('status')).toEqual({ status: 'done' });
});

it('a line shows what it means while it is typed, in place of how one is written', async () => {
  const { page } = window;
  await page.goto(path);
  const hint = page.locator('form.quick small').first();
  await page.focus('form.quick input[name=text]');
  await hint.waitFor();
  await page.locator('form.quick input[name=text]').pressSequentially('Call the yard tomorrow !urgent');
  const read = page.locator('form.quick .line-read').first();
  await read.locator('.chip', { hasText: 'urgent' }).waitFor();
  expect([await hint.isVisible(), await read.locator('.chip').count()]).toEqual([false, 2]);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.notice:has-text("Added “Call the yard”")');
  expect(await read.locator('.chip').count()).toBe(0);
  await page.click('.notice >> text=Undo');
  await page.waitForSelector('.notice:has-text("undone")');
});

/** Whether an address is that to which the line of a new task is sent. */
const adds = (url: URL): boolean => url.pathname.endsWith('/tasks');
/** Holds lines that are sent until the function that it returns is called. */
async function holdAdding(): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await window.page.route(adds, async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

it('keeps what is typed behind a line that is sent while the page still reads it', async () => {
  const { page } = window;
  await page.goto(path);
  const release = await holdAdding();
  const reads = (url: URL) => url.pathname === '/app/tasks/line';
  // The page asks what the line means, and has no answer when the line is sent.
  await page.route(reads, () => undefined);
  const field = page.locator('main form.quick[data-focus] input[name=text]').first();
  await field.focus();
  const asked = page.waitForRequest((request) => reads(new URL(request.url())));
  await page.keyboard.type('Golf thing');
  await asked;
  await page.keyboard.press('Enter');
  await page.keyboard.type('Hotel');
  expect(await field.inputValue()).toBe('Hotel');
  release();
  await page.waitForSelector('.notice:has-text("Added “Golf thing”")');
  await page.keyboard.type(' thing');
  expect(await field.inputValue()).toBe('Hotel thing');
  await page.unroute(adds);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.notice:has-text("Added “Hotel thing”")');
  await page.unroute(reads);
  expect(await db()('tasks').where('title', 'like', '% thing').orderBy('task_id').pluck('title')).toEqual([
    'Golf thing',
    'Hotel thing',
  ]);
  await db()('tasks').where('title', 'like', '% thing').update({ deleted_at: new Date() });
  window.complaints.splice(0);
});

it('takes the next lines while one is on its way, and what is typed after them', async () => {
  const { page } = window;
  await page.goto(path);
  const release = await holdAdding();
  const field = page.locator('main form.quick[data-focus] input[name=text]').first();
  await field.focus();
  for (const line of ['Alfa line', 'Bravo line', 'Charlie line']) {
    await page.keyboard.type(line);
    await page.keyboard.press('Enter');
  }
  await page.keyboard.type('Delta');
  release();
  await page.waitForSelector('.notice:has-text("Added “Charlie line”")');
  await page.keyboard.type(' line');
  expect([await field.inputValue(), await focused('value')]).toEqual(['Delta line', 'Delta line']);
  const titles = await db()('tasks').where('title', 'like', '% line').orderBy('task_id').pluck('title');
  expect(titles).toEqual(['Alfa line', 'Bravo line', 'Charlie line']);
  await page.unroute(adds);
  // A refused line comes back, before what was typed after it; one without an answer too.
  await page.fill('main form.quick[data-focus] input[name=text]', `Echo !none${' x'.repeat(200)}`);
  await page.route(adds, (route) => route.abort());
  await page.keyboard.press('Enter');
  await until(async () => (await field.inputValue()).startsWith('Echo'));
  await page.unroute(adds);
  await page.keyboard.press('Enter');
  await page.waitForSelector('form.quick .wrong');
  expect(await field.inputValue()).toMatch(/^Echo !none/);
  await db()('tasks').where('title', 'like', '% line').update({ deleted_at: new Date() });
  await field.focus();
  await page.keyboard.press('Escape');
  expect(await page.evaluate<boolean>('document.activeElement === document.body')).toBe(true);
  const failed = window.complaints.splice(0);
  expect(failed.every((text) => text.includes('ERR_FAILED') || text.includes('Failed to fetch'))).toBe(true);
});

it('the page of a run shows that a step waited, and that it ended, when it happens', async () => {
  const { page } = window;
  const { run_id } = await buildRun(app, team, {
    actions: [
      { type: 'delay', params: { seconds: 60 } },
      { type: 'delay', params: { seconds: 60 } },
    ],
    status: 'running',
    statuses: ['pending', 'pending'],
  });
  const follows = page.waitForResponse((response) => response.url().includes('/app/live'));
  const asked = page.waitForResponse((response) => response.url().endsWith(`/app/runs/${run_id}?live`));
  await page.goto(`/app/runs/${run_id}`);
  await Promise.all([follows, asked]);
  const step = (fields: Record<string, unknown>) => db()('run_actions').where({ run_id, index: 0 }).update(fields);
  // A page asks by itself once a minute, which is later.
  const shows = (text: string) =>
    page.locator('.timeline > li').nth(1).locator('.chip', { hasText: text }).waitFor({ timeout: 30_000 });
  await shows('next');
  await step({ status: 'running', due_at: new Date(Date.now() + 60_000) });
  await shows('running');
  await step({ status: 'succeeded', finished_at: new Date() });
  await shows('succeeded');
});

it('ticks all rows and counts them; a choice by pointer is saved at once', async () => {
  const { page } = window;
  await page.goto(`${path}?show=all`);
  await page.check('[data-tick-all]');
  expect(await page.textContent('[data-ticked-tasks]')).toBe('3 ticked');
  await page.click('#tasks a >> nth=0');
  await page.waitForSelector('#i-priority');
  await page.click('h1');
  await page.selectOption('#i-priority', 'urgent');
  await page.waitForSelector('.notice:has-text("Priority changed")');
});

it('“In other words…” opens a field for how often a task repeats, which is saved with Enter', async () => {
  const { page } = window;
  await page.goto(`${path}?show=all`);
  await page.click('#tasks a >> nth=0');
  await page.waitForSelector('#i-repeats');
  expect(await page.isVisible('#i-repeats_words')).toBe(false);
  await page.click('h1');
  await page.selectOption('#i-repeats', 'words');
  expect([await page.isVisible('#i-repeats_words'), await focused('id')]).toEqual([true, 'i-repeats_words']);
  await page.fill('#i-repeats_words', 'every 2 weeks on monday');
  await page.press('#i-repeats_words', 'Enter');
  await page.waitForSelector('.notice:has-text("Repeat changed")');
  await page.waitForSelector('dd:has-text("Every 2 weeks on Monday, after the last one is done. Next:")');
  expect(await page.isVisible('#i-repeats_words')).toBe(false);
});

it('the builder shows the next times of a schedule while its words are typed', async () => {
  const { page } = window;
  await page.goto(`/app/automations/new?template=weekly-review&team=${team.team_id}`);
  await page.fill('#f-schedule_cron', 'every friday at 8:00');
  await page.waitForSelector('#schedule-check:has-text("Every Friday at 8:00")');
  expect(await page.locator('#schedule-check time').count()).toBe(3);
  await page.fill('#f-schedule_timezone', 'Asia/Tokyo');
  await page.waitForSelector('#schedule-check:has-text("(Asia/Tokyo)")');
  await page.fill('#f-schedule_cron', 'every friday');
  await page.waitForSelector('#schedule-check:has-text("Say at which time: add “at 9:00”")');
});

it('text and choices of other forms stay when one form is sent', async () => {
  const { page } = window;
  const { project_id } = await buildProject(app, team);
  const { task_id } = await buildTask(app, team, { project_id }, { title: 'Drafts' });
  await page.goto(`/app/items/${task_id}`);
  await page.fill('#c-content', 'A comment that is not sent yet');
  await page.selectOption('#i-priority', 'urgent');
  await page.locator('form[data-saves] button').click();
  await page.waitForSelector('.notice:has-text("Priority changed")');
  expect(await page.inputValue('#c-content')).toBe('A comment that is not sent yet');
  await page.selectOption('#i-priority', 'low');
  await page.locator('form:has(#c-content) button').click();
  await page.waitForSelector('article.comment:has-text("A comment that is not sent yet")');
  expect([await page.inputValue('#c-content'), await page.inputValue('#i-priority')]).toEqual(['', 'low']);
  await page.goto(`/app/items/${task_id}`);
  expect(await page.inputValue('#i-priority')).toBe('urgent');
});

it('a board and a list show what others change, unless something is typed or ticked there', async () => {
  const { page } = window;
  for (const [at, rows] of [
    [`${path}/board`, '.board li'],
    [`${path}?show=all`, '#tasks li'],
  ] as const) {
    const asked = page.waitForResponse((response) => response.url().includes('live') && !response.url().includes('/app/live'));
    await page.goto(at);
    await asked;
    const title = `By another at ${rows}`;
    await app.as(team.manager).post('/api/tasks', { project_id: path.split('/').at(-1), title });
    // A page asks by itself once a minute, which is later.
    await page.locator(rows, { hasText: title }).waitFor({ timeout: 30_000 });
  }
});

it('Reject on the list of approvals shows that list again', async () => {
  const { page } = window;
  const { run_id } = await buildRun(app, team, { creator: team.manager });
  await db()('gates').where({ run_id }).update({ required_role: 'member' });
  await page.goto('/app/approvals');
  // The first click asks for the reason, which may stay empty.
  const no = page.locator(`button[formaction="/app/runs/${run_id}/reject"]`);
  expect(await no.isVisible()).toBe(false);
  await page.click(`#gate-${run_id} details.reject summary`);
  expect((await db()('gates').where({ run_id }).first()).decision).toBeNull();
  await no.click();
  await page.waitForSelector('.notice:has-text("Rejected")');
  expect([await page.locator('button header').count(), await page.locator('h1').count()]).toEqual([0, 1]);
  expect(await page.locator(`[formaction="/app/runs/${run_id}/reject"]`).count()).toBe(0);
});

describe('the page of a task', () => {
  let taskId: string;
  let other: ReturnType<typeof app.as>;
  const open = async () => {
    const { page } = window;
    const follows = page.waitForResponse((response) => response.url().includes('/app/live'));
    await page.goto(`/app/items/${taskId}`);
    await follows;
  };
  beforeEach(async () => {
    const project = await buildProject(app, team);
    taskId = (await buildTask(app, team, project, { title: 'Followed', description: 'Before' })).task_id;
    other = app.as(team.manager);
  });

  it('shows what others change, comment and add, without a new page', async () => {
    const { page } = window;
    await open();
    await page.evaluate('window.isSame = true');
    await other.patch(`/api/tasks/${taskId}`, { title: 'Renamed', priority: 'urgent', description: 'After' });
    await other.post(`/api/tasks/${taskId}/comments`, { content: 'From another' });
    await page.locator('h1', { hasText: 'Renamed' }).waitFor({ timeout: 30_000 });
    await page.locator('#part-text', { hasText: 'After' }).waitFor();
    await page.locator('#part-comments', { hasText: 'From another' }).waitFor({ timeout: 30_000 });
    expect([await page.inputValue('#i-priority'), await page.evaluate('window.isSame')]).toEqual(['urgent', true]);
    await other.post('/api/tasks', { project_id: await projectOf(), title: 'Below', parent_task_id: taskId });
    await page.locator('#part-subtasks', { hasText: 'Below' }).waitFor({ timeout: 30_000 });
  });

  it('asks again only for a change of what it shows', async () => {
    const { page } = window;
    const beside = await buildTask(app, team, { project_id: await projectOf() });
    let asked = 0;
    const isOfTask = (url: string) => url.endsWith(`/app/items/${taskId}?live`);
    const count = (request: { url: () => string }) => (asked += isOfTask(request.url()) ? 1 : 0);
    page.on('request', count);
    const first = page.waitForResponse((response) => isOfTask(response.url()));
    await open();
    await first;
    // A page asks at most every four seconds: a change within them would wait, and be one with the next.
    await page.waitForTimeout(5_000);
    await other.patch(`/api/tasks/${beside.task_id}`, { title: 'Of no interest' });
    await other.post(`/api/tasks/${beside.task_id}/comments`, { content: 'Of no interest' });
    await page.waitForTimeout(2_000);
    await other.patch(`/api/tasks/${taskId}`, { title: 'Renamed' });
    await page.locator('h1', { hasText: 'Renamed' }).waitFor({ timeout: 30_000 });
    page.off('request', count);
    expect(asked).toBe(2);
  });

  it('keeps what is typed, says what another changed there, and shows it when asked', async () => {
    const { page } = window;
    await open();
    await page.fill('#c-content', 'A draft');
    await page.focus('#i-tags');
    await page.selectOption('#i-priority', 'low');
    await other.patch(`/api/tasks/${taskId}`, { status: 'done', priority: 'urgent' });
    const line = page.locator('[data-news=priority]');
    await line.waitFor({ timeout: 30_000 });
    expect(await line.textContent()).toMatch(/ changed the priority — show$/);
    expect([await page.inputValue('#i-status'), await page.inputValue('#i-priority')]).toEqual(['done', 'low']);
    expect(await page.inputValue('#c-content')).toBe('A draft');
    await line.locator('text=show').click();
    expect(await line.textContent()).toContain('It is now: Urgent');
    await page.locator('form[data-saves] button[type=submit]').click();
    await page.waitForSelector('.collision:has-text("Priority: now “Urgent”, yours “Low”"), .collision:has-text("Priority")');
    expect([await page.inputValue('#i-priority'), await page.inputValue('#c-content')]).toEqual(['low', 'A draft']);
  });

  it('completes the names of members by keys, shows mentions, and sends with Ctrl and Enter', async () => {
    const { page } = window;
    const { username } = await db()('users').where({ user_id: team.manager.user_id }).first('username');
    await open();
    await page.locator('#c-content').pressSequentially(`Ask @${(username as string).slice(0, 4)}`);
    await page.locator(`#mention-names [data-name="${username}"]`).waitFor();
    expect(await focused('getAttribute("aria-activedescendant")')).toBe('mention-name-0');
    /* The list hides no button, with room above the field and without. */
    const overlap = `(() => {
      const [list, send] = ['#mention-names', 'form[action$="/comments"] button'].map((one) => document.querySelector(one).getBoundingClientRect());
      return list.top < send.bottom && list.bottom > send.top;
    })()`;
    expect(await page.evaluate(overlap)).toBe(false);
    await page.evaluate(
      `scrollBy(0, document.getElementById('c-content').getBoundingClientRect().top - document.querySelector('header.top').offsetHeight)`,
    );
    await page.keyboard.press('Backspace');
    expect([await page.locator('#mention-names').count(), await page.evaluate(overlap)]).toEqual([1, false]);
    while ((await page.locator('#mention-names [aria-selected=true]').getAttribute('data-name')) !== username)
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect([await page.inputValue('#c-content'), await page.locator('#mention-names').count()]).toEqual([`Ask @${username} `, 0]);
    await page.keyboard.press('Control+Enter');
    await page.locator('#part-comments .mention', { hasText: `@${username}` }).waitFor();
    await page.locator('form.quick input[name=text]').pressSequentially('Call @');
    await page.locator('#mention-names li').first().waitFor();
    expect(await focused('getAttribute("role")')).toBe('combobox');
    await page.keyboard.press('Escape');
    expect([await page.locator('#mention-names').count(), await focused('getAttribute("role")')]).toEqual([0, null]);
  });

  it('names first whose username or first name begins so, then others, oneself last', async () => {
    const { page } = window;
    const named = { member: 'Zed Zulu', manager: 'Otto Zander', guest: 'Zoe Adler' };
    const people = [team.member, team.manager, team.guest];
    const before = await db()('users')
      .whereIn(
        'user_id',
        people.map(({ user_id }) => user_id),
      )
      .select('user_id', 'display_name');
    for (const [seat, display_name] of Object.entries(named))
      await db()('users')
        .where({ user_id: team[seat as keyof typeof named].user_id })
        .update({ display_name });
    await open();
    await page.locator('#c-content').pressSequentially('@z');
    const listed = await page.locator('#mention-names li').allTextContents();
    expect(listed.map((text) => text.split(' @')[0])).toEqual(['Zoe Adler', 'Otto Zander', 'Zed Zulu']);
    await page.fill('#c-content', '');
    for (const { user_id, display_name } of before) await db()('users').where({ user_id }).update({ display_name });
  });

  it('saves what is changed by keys when its field is left, stays there, and keeps what is changed meanwhile', async () => {
    const { page } = window;
    await db()('tasks').where({ task_id: taskId }).update({ priority: 'medium', estimated_hours: null });
    await open();
    await page.focus('#i-priority');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    expect(await focused('id')).toBe('i-due_date');
    await page.waitForSelector('.notice.toast:has-text("Priority changed")');
    expect(await focused('id')).toBe('i-due_date');
    await page.focus('#i-estimated_hours');
    await page.keyboard.type('3');
    await page.focus('#i-tags');
    await page.keyboard.type('quick');
    await page.waitForSelector('.notice.toast:has-text("Estimate")');
    expect([await focused('id'), await page.inputValue('#i-tags')]).toEqual(['i-tags', 'quick']);
    await page.focus('#i-status');
    await page.waitForSelector('.notice.toast:has-text("Tags")');
    expect(await db()('tasks').where({ task_id: taskId }).first('priority', 'estimated_hours', 'tags')).toEqual({
      priority: 'high',
      estimated_hours: 3,
      tags: ['quick'],
    });
  });

  it('saves what is typed when keys go on to the button, and the focus goes back as the button goes', async () => {
    const { page } = window;
    await open();
    await page.focus('#i-tags');
    await page.keyboard.type('quay');
    await page.keyboard.press('Tab');
    await page.waitForSelector('.notice:has-text("Tags changed")');
    await page.waitForSelector('#i-tags:focus');
    expect([await focused('id'), (await db()('tasks').where({ task_id: taskId }).first('tags')).tags]).toEqual([
      'i-tags',
      ['quay'],
    ]);
  });

  it('leaves the focus of keys at the last field where the page hears of the change before its answer', async () => {
    const { page } = window;
    await open();
    await page.evaluate(`document.addEventListener('followed', () => { document.body.dataset.followed = ''; })`);
    await page.route('**/app/items/*/task', async (route) => {
      const response = await route.fetch();
      await page.waitForSelector('body[data-followed]');
      await route.fulfill({ response });
    });
    await page.focus('#i-tags');
    await page.keyboard.type('quay');
    await page.keyboard.press('Tab');
    await page.waitForSelector('.notice:has-text("Tags changed")');
    await page.waitForSelector('#i-tags:focus');
    await page.unroute('**/app/items/*/task');
  });

  it('lays a message over the page: nothing moves, and its button or Escape takes it away', async () => {
    const { page } = window;
    await open();
    const top = () => page.evaluate<number>('document.querySelector("h1").offsetTop');
    const before = await top();
    for (const [at, away] of ['button', 'Escape'].entries()) {
      // It is saved by itself.
      await page.selectOption('#i-priority', ['urgent', 'low'][at] as string);
      await page.waitForSelector('.notice.toast[role=status]:has-text("Priority changed")');
      expect(await top()).toBe(before);
      if (away === 'button') await page.click('.notice [data-dismiss]');
      else await page.keyboard.press('Escape');
      await page.waitForSelector('.notice', { state: 'detached' });
      expect(await focused('id')).toBe('main');
    }
  });

  it('refuses a file that is too large before it is sent', async () => {
    const { page } = window;
    await open();
    await page.evaluate('document.getElementById("attach").open = true');
    await page.evaluate('document.getElementById("a-file").dataset.maxBytes = "3"');
    const refusal = () => page.evaluate<string>('document.getElementById("a-file").validationMessage');
    await page.setInputFiles('#a-file', { name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.from('large') });
    expect(await refusal()).toBe('The file is larger than 25 MB');
    await page.setInputFiles('#a-file', { name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('s') });
    expect(await refusal()).toBe('');
  });

  const projectOf = async () => (await db()('tasks').where({ task_id: taskId }).first('project_id')).project_id as string;
});

it('a column of a stage takes cards by drag and by key, and the chooser of a row offers it under its status', async () => {
  const { page } = window;
  await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name: 'In QA', status: 'in_review' });
  const { task_id } = await buildTask(
    app,
    team,
    { project_id: path.split('/').at(-1) as string },
    { title: 'Staged', status: 'in_review' },
  );
  const state = () =>
    db()('tasks as t').leftJoin('stages as s', 's.stage_id', 't.stage_id').where({ task_id }).first('t.status', 's.name');
  await page.goto(`${path}/board`);
  const column = page.locator('[data-name="In QA"]');
  await page.locator('[data-status=in_review] li', { hasText: 'Staged' }).dragTo(column.locator('ul'));
  await page.waitForSelector('.notice:has-text("Moved to In QA")');
  expect(await state()).toEqual({ status: 'in_review', name: 'In QA' });
  await column.locator('li a').first().focus();
  await page.keyboard.press('Shift+ArrowLeft');
  await page.waitForSelector('.notice:has-text("Moved to In review")');
  expect(await state()).toEqual({ status: 'in_review', name: null });
  await page.goto(path);
  const row = page.locator('#tasks li', { hasText: 'Staged' });
  await row.locator('button.in_review').click();
  await page.click('[role=option]:has-text("Set status to In QA")');
  await page.waitForSelector('.notice:has-text("Moved to In QA")');
  expect(await row.locator('button.in_review').textContent()).toBe('In QA');
  expect(await state()).toEqual({ status: 'in_review', name: 'In QA' });
});
