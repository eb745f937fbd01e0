import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Recurring tasks in words: in the line that adds a task, and in the task's page.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;
const db = () => app.services.db;
const rowOf = (task_id: string) => db()('tasks').where({ task_id }).first();

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await givePasswords(app);
  browser = await signIn(app, team.member);
  await app.as(team.member).patch('/api/auth/me', { preferences: { timezone: 'Europe/Berlin' } });
});

const add = async (text: string) => {
  const path = `/app/projects/${project.project_id}`;
  const answer = await browser.post(`${path}/tasks`, { text }, { from: path });
  return answer.status === 303 ? browser.get(answer.headers.get('location') as string) : answer;
};

describe('quick add', () => {
  it('adds a task that repeats, due on its first day, and says what it read', async () => {
    const { html } = await add('Water the plants every monday');
    expect(html).toMatch(
      /Added “Water the plants” · due \w+ \d+ \w+(?: \d+)? · every week on Monday, after the last one is done/,
    );
    const task = await db()('tasks').where({ project_id: project.project_id }).first();
    expect(task.recurrence).toEqual({
      rule: 'FREQ=WEEKLY;BYDAY=MO',
      mode: 'on_complete',
      timezone: 'Europe/Berlin',
      until: null,
      count: null,
    });
    expect(new Date(task.due_date).getUTCDay()).toBe(1);
    expect(task.series_id).not.toBeNull();
  });

  it('leaves a mark in rows, on cards and at the head of the page', async () => {
    const { html } = await add('Water the plants every 2 weeks on monday');
    await add('Paint the quay');
    const mark = 'title="Every 2 weeks on Monday, after the last one is done"';
    const rows = html.split('<li').filter((row) => row.includes('class="repeats"'));
    expect([rows.length, rows[0]?.includes(mark), rows[0]?.includes('repeats every 2 weeks')]).toEqual([1, true, true]);
    const { task_id } = await db()('tasks')
      .where({ title: 'Water the plants', ...project })
      .first();
    expect((await browser.get(`/app/items/${task_id as string}`)).html).toContain(mark);
    const board = (await browser.get(`/app/projects/${project.project_id}/board`)).html;
    expect(board.match(/repeats every 2 weeks/g)).toHaveLength(1);
  });

  it('refuses a time, and adds nothing', async () => {
    const { status, html } = await add('Call every friday at 9:00');
    expect([status, html.includes('A task repeats on days, without a time')]).toEqual([422, true]);
    expect(html).toContain('value="Call every friday at 9:00"');
    expect(await db()('tasks').where({ project_id: project.project_id })).toEqual([]);
  });
});

describe('the page of a task', () => {
  const open = async (fields: Record<string, unknown> = {}) => {
    const { task_id } = await buildTask(app, team, project, { title: 'Clean', due_date: '2026-11-27', ...fields });
    const path = `/app/items/${task_id}`;
    const send = async (form: Record<string, string>) => {
      const { version } = await rowOf(task_id);
      const answer = await browser.post(`${path}/task`, { version: String(version), ...form }, { from: path });
      return answer.status === 303 ? browser.get(answer.headers.get('location') as string) : answer;
    };
    return { task_id, path, send };
  };

  it('offers the usual repeats by the due day, saves one, shows the rule and the next date, and undoes it', async () => {
    const { task_id, path, send } = await open();
    const before = (await browser.get(path)).html;
    for (const text of ['Every day', 'Every weekday', 'Every week on Friday', 'Every month on the 27th', 'In other words…'])
      expect(before).toContain(`>${text}</option>`);
    const { html } = await send({ repeats: 'Every week on Friday', 'was-repeats': '', repeats_words: '' });
    expect(html).toContain('Repeat changed');
    expect(html).toContain('name="was-repeats_words" value=""');
    expect(html).toContain('<option value="Every week on Friday" selected>');
    expect(html).toMatch(
      /<dt>Repeats<\/dt><dd>Every week on Friday, after the last one is done\. Next: <time datetime="2026-12-04">/,
    );
    expect(await rowOf(task_id)).toMatchObject({
      due_date: '2026-11-27',
      recurrence: { rule: 'FREQ=WEEKLY;BYDAY=FR', timezone: 'Europe/Berlin' },
    });
    const undo = /name="undo" value="([^"]*)"/.exec(html)?.[1] as string;
    await browser.post('/app/undo', { undo, back: path }, { from: path });
    expect((await rowOf(task_id)).recurrence).toBeNull();
  });

  it('reads free words, keeps the zone of a series, and ends it', async () => {
    const { task_id, send } = await open({ due_date: null });
    await send({ repeats: 'words', 'was-repeats': '', repeats_words: 'every 2 weeks on monday, 5 times, done or not' });
    const row = await rowOf(task_id);
    expect(row.recurrence).toMatchObject({ rule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO', mode: 'on_schedule', count: 5 });
    expect(new Date(row.due_date).getUTCDay()).toBe(1);
    const stored = 'Every 2 weeks on Monday, 5 times, done or not';
    await app.as(team.member).patch('/api/auth/me', { preferences: { timezone: 'Asia/Tokyo' } });
    const { html } = await send({ repeats: 'Every day', 'was-repeats': stored, repeats_words: '' });
    expect(html).toContain('<option value="Every day" selected>');
    expect((await rowOf(task_id)).recurrence).toMatchObject({ rule: 'FREQ=DAILY', timezone: 'Europe/Berlin', count: null });
    await send({ repeats: '', 'was-repeats': 'Every day', repeats_words: '' });
    expect((await rowOf(task_id)).recurrence).toBeNull();
    expect(await db()('task_series').where({ series_id: row.series_id }).first()).toMatchObject({ end_reason: 'cancelled' });
  });

  it('refuses what it cannot read beside the field, and keeps it', async () => {
    const { task_id, send } = await open();
    const { status, html } = await send({ repeats: 'words', 'was-repeats': '', repeats_words: 'now and then' });
    expect([status, html.includes('value="now and then"')]).toEqual([422, true]);
    expect(html).toContain('“now and then” is no repeat: write every monday, every 2 weeks or monthly on the 1st');
    const empty = await send({ repeats: 'words', 'was-repeats': '', repeats_words: '' });
    expect([empty.status, empty.html.includes('Say how often it repeats')]).toEqual([422, true]);
    expect((await rowOf(task_id)).recurrence).toBeNull();
  });

  it('shows a rule that others wrote in words, that it ended, and the newer occurrence', async () => {
    const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC', count: 1 };
    const last = await open({ recurrence });
    expect((await browser.get(last.path)).html).toContain(
      'Every day, 1 time, after the last one is done. No next one: that was the last of its occurrences',
    );
    const first = await open({ recurrence: { ...recurrence, count: null } });
    const { series_id } = await rowOf(first.task_id);
    const next = await open({});
    await db()('task_series').where({ series_id }).update({ last_task_id: next.task_id });
    expect((await browser.get(first.path)).html).toContain(`<a href="/app/items/${next.task_id}">The latest one</a>`);
  });

  it('is read by members only, and changed by who may write', async () => {
    const { task_id, path, send } = await open({ recurrence: { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' } });
    const stranger = (await buildTeam(app)).admin;
    await givePasswords(app);
    const foreign = await signIn(app, stranger);
    expect((await foreign.get(path)).status).toBe(403);
    const guest = await signIn(app, team.guest);
    const { html } = await guest.get(path);
    expect([html.includes('<dt>Repeats</dt><dd>Every day'), html.includes('name="repeats"')]).toEqual([true, false]);
    for (const other of [guest, foreign]) {
      const answer = await other.post(`${path}/task`, { version: '1', repeats: '', 'was-repeats': 'Every day' }, { from: path });
      expect(answer.status).toBe(403);
    }
    expect((await rowOf(task_id)).recurrence).not.toBeNull();
    expect((await send({ repeats: 'Every weekday', 'was-repeats': 'Every day' })).status).toBe(200);
  });
});
