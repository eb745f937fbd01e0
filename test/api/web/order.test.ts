import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// The manual order of cards and rows, as its forms make it.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let path: string;
let ids: Record<string, string>;
const db = () => app.services.db;
const versionOf = async (id: string): Promise<number> => (await db()('tasks').where({ task_id: id }).first('version')).version;
const titles = (html: string): string[] =>
  [...html.matchAll(/Task ([A-Z])\b(?=<\/(?:a|strong)>)/g)].map(([, title = '']) => title);
const shown = async (at = `${path}/board`, who = browser): Promise<string> => titles((await who.get(at)).html).join('');
/** Puts a task between two others. */
const place = async (title: string, where: { after?: string; before?: string }) => {
  const id = ids[title] as string;
  const neighbours = Object.fromEntries(Object.entries(where).map(([name, one]) => [name, ids[one] ?? one]));
  const form = { to: `todo:${await versionOf(id)}:${id}`, same: 'yes', back: `${path}/board`, ...neighbours };
  return browser.post('/app/tasks/move', form, { from: `${path}/board` });
};
const notice = async () => /class="notice[^"]*"[^>]*>.*?<span>([^<]*)/s.exec((await browser.get(`${path}/board`)).html)?.[1];

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  path = `/app/projects/${project.project_id}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
  const rows = 'ABCDE'.split('').map((letter) => ({ title: `Task ${letter}`, ...project }));
  const made = await app.as(team.member).post('/api/tasks/bulk', rows);
  const results = made.body.results as { task_id: string }[];
  ids = Object.fromEntries(results.map(({ task_id }, at) => ['ABCDE'.charAt(at), task_id]));
});

describe('the manual order', () => {
  it('is that of the board, at first by creation; a move writes one row, and Undo takes it back', async () => {
    expect(await shown()).toBe('ABCDE');
    const before = await db()('tasks').where(project).sum('version as sum').first();
    await place('E', { after: 'A', before: 'B' });
    expect(await notice()).toBe('Moved');
    expect(await shown()).toBe('AEBCD');
    expect(Number((await db()('tasks').where(project).sum('version as sum').first())?.['sum'])).toBe(Number(before?.['sum']) + 1);
    await place('E', { before: 'A' });
    expect(await shown()).toBe('EABCD');
    await place('A', { after: 'D' });
    expect(await shown()).toBe('EBCDA');
    await place('B', { after: 'D', before: 'A' });
    const { html } = await browser.get(`${path}/board`);
    expect(titles(html).join('')).toBe('ECDBA');
    const undo = /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '';
    await browser.post('/app/undo', { undo, back: path }, { from: path });
    expect(await shown()).toBe('EBCDA');
    expect(await shown(`${path}?sort=manual_order`)).toBe('EBCDA');
  });

  it('holds many moves between the same two tasks, which were created in one microsecond', async () => {
    for (let at = 0; at < 40; at += 1) await place(at % 2 === 0 ? 'D' : 'E', { after: 'A' });
    expect(await shown()).toBe('AEDBC');
  });

  it('moves a card to a column and a place at once', async () => {
    await browser.post('/app/tasks/move', { to: `in_review:1:${ids['A']}` }, { from: path });
    const inReview = { to: `in_review:${await versionOf(ids['B'] as string)}:${ids['B']}`, before: ids['A'] as string };
    await browser.post('/app/tasks/move', inReview, { from: path });
    expect(await db()('tasks').where({ task_id: ids['B'] }).first('status')).toEqual({ status: 'in_review' });
    expect(await shown()).toBe('CDEBA');
  });

  it('also orders boards of cycles and of views', async () => {
    const { cycle_id } = await createCycle(app.as(team.member), { team_id: team.team_id });
    await app.as(team.member).post(`/api/sprints/${cycle_id}/tasks`, { task_ids: Object.values(ids) });
    const view = await app.as(team.member).post('/api/saved-views', {
      name: 'Board',
      entity_type: 'task',
      team_id: team.team_id,
      layout: 'board',
      filters: { project_id: [project.project_id] },
    });
    await place('E', { before: 'A' });
    expect(await shown(`/app/cycles/${cycle_id}/board`)).toBe('EABCD');
    expect(await shown(`/app/views/${view.body.view_id}`)).toBe('EABCD');
  });

  it('is right after many moves at once: each task is there once, and where the last move put it', async () => {
    const others = await signIn(app, team.manager);
    const csrf = readCsrf((await others.get(`${path}/board`)).html) ?? null;
    const mine = readCsrf((await browser.get(`${path}/board`)).html) ?? null;
    const move = async (who: Browser, token: string | null, title: string, form: Record<string, string>) =>
      who.post('/app/tasks/move', { to: `todo:1:${ids[title]}`, same: 'yes', back: path, ...form }, { csrf: token });
    await Promise.all([
      move(browser, mine, 'C', { after: ids['A'] as string, before: ids['B'] as string }),
      move(others, csrf, 'D', { after: ids['A'] as string, before: ids['B'] as string }),
      move(browser, mine, 'E', { after: ids['A'] as string, before: ids['B'] as string }),
    ]);
    const order = await shown();
    expect([order.at(0), order.at(-1), order.split('').toSorted().join('')]).toEqual(['A', 'B', 'ABCDE']);
    const places = await db()('tasks').where(project).whereNotNull('position').pluck('position');
    expect(new Set(places).size).toBe(3);
  });

  it('refuses the second of two moves of one card, and says so', async () => {
    const answers = await Promise.all(
      ['A', 'C'].map(async (after) =>
        browser.post(
          '/app/tasks/move',
          { to: `todo:1:${ids['E']}`, same: 'yes', back: path, after: ids[after] as string },
          { from: path },
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await versionOf(ids['E'] as string)).toBe(2);
    await browser.post(
      '/app/tasks/move',
      { to: `todo:1:${ids['E']}`, same: 'yes', back: path, before: ids['A'] as string },
      { from: path },
    );
    expect(await notice()).toContain('The task has changed since you opened the page');
    expect(await versionOf(ids['E'] as string)).toBe(2);
  });

  it('goes behind the neighbour that is left, and refuses where none is', async () => {
    await app.as(team.member).delete(`/api/tasks/${ids['A']}`);
    await place('E', { after: 'A', before: 'C' });
    expect(await shown()).toBe('BECD');
    await app.as(team.member).delete(`/api/tasks/${ids['B']}`);
    await place('D', { after: 'A', before: 'B' });
    expect(await notice()).toContain('The list has changed since you opened it');
    expect(await shown()).toBe('ECD');
  });

  it('is not for guests and strangers, and no task of a stranger is a neighbour', async () => {
    const other = await buildTeam(app);
    const foreign = await buildTask(app, other, await buildProject(app, other), { title: 'Elsewhere' });
    await givePasswords(app);
    for (const who of [await signIn(app, team.guest), await signIn(app, other.member)]) {
      const csrf = readCsrf((await who.get('/app')).html) ?? null;
      await who.post('/app/tasks/move', { to: `todo:1:${ids['E']}`, same: 'yes', before: ids['A'] as string }, { csrf });
      await who.post('/app/tasks/move', { to: `todo:1:${ids['E']}`, same: 'yes', before: foreign.task_id }, { csrf });
    }
    await place('E', { before: foreign.task_id });
    expect(await notice()).toContain('The list has changed since you opened it');
    expect(await versionOf(ids['E'] as string)).toBe(1);
  });

  it('makes nobody wait for a guest, who may put only tasks of other teams beside those that are read', async () => {
    const other = await buildTeam(app);
    const own = await buildTask(app, other, await buildProject(app, other), { title: 'Elsewhere' });
    await givePasswords(app);
    await db()('memberships').insert({ team_id: team.team_id, user_id: other.member.user_id, role: 'guest' });
    const guest = await signIn(app, other.member);
    const csrf = readCsrf((await guest.get('/app')).html) ?? null;
    const move = { to: `todo:1:${own.task_id}`, same: 'yes', after: ids['A'] as string };
    await db().transaction(async (locked) => {
      await locked('projects').where(project).forUpdate().first();
      expect((await guest.post('/app/tasks/move', move, { csrf })).status).toBe(303);
      expect(await versionOf(own.task_id)).toBe(2);
    });
    expect(await shown()).toBe('ABCDE');
  });
});
