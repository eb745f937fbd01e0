import { randomUUID } from 'node:crypto';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { captureStatements } from '../../support/statements.js';
import { createCycle, insertTasks } from '../work/cycles/support.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// The pages of projects, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let path: string;
const db = () => app.services.db;
const location = (answer: { headers: Headers }): string => answer.headers.get('location') ?? '';
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const taskRow = (title: string) => db()('tasks').where({ title, project_id: project.project_id }).first();
/** Sends a form and returns the page that it leads to. */
const follow = async (to: string, form: Record<string, string | string[]>, from = path) => {
  const answer = await browser.post(to, form, { from });
  return answer.status === 303 ? browser.get(location(answer)) : answer;
};
/** Presses the Undo button of a page. */
const undo = (html: string) => follow('/app/undo', { undo: hidden(html, 'undo'), back: path });

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  path = `/app/projects/${project.project_id}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('the list', () => {
  it('creates a project, which then has a page, and lists it by state', async () => {
    const created = await browser.post('/app/projects', { team_id: team.team_id, name: 'Apollo', description: 'To the\r\nmoon' });
    expect(location(created)).toMatch(/^\/app\/projects\/[0-9a-f-]{36}$/);
    expect((await browser.get(location(created))).html).toContain('Apollo is ready.');
    const row = await db()('projects').where({ name: 'Apollo', team_id: team.team_id }).first();
    expect(row).toMatchObject({ description: 'To the\nmoon', status: 'active' });
    await app.as(team.member).patch(`/api/projects/${project.project_id}`, { status: 'archived' });
    const { html } = await browser.get('/app/projects');
    expect(html.indexOf('Apollo')).toBeLessThan(html.indexOf('Archived'));
    expect(html.indexOf('Harbour')).toBeGreaterThan(html.indexOf('Archived'));
  });

  it('makes a project of any team in which its user may, and shows who leads it', async () => {
    expect((await browser.get('/app/projects')).html).toContain(`<input type="hidden" name="team_id" value="${team.team_id}">`);
    const [second, third] = [await buildTeam(app), await buildTeam(app)];
    await app.as(second.admin).post(`/api/teams/${second.team_id}/members`, { user_id: team.member.user_id });
    await app.as(third.admin).post(`/api/teams/${third.team_id}/members`, { user_id: team.member.user_id, role: 'guest' });
    const offered = (html: string) => {
      const choice = /<select id="f-team_id"[^]*?<\/select>/.exec(html)?.[0] ?? '';
      return Object.fromEntries([...choice.matchAll(/value="([^"]+)"( selected)?/g)].map(([, id, chosen]) => [id, !!chosen]));
    };
    const of = async (id: string) => offered((await browser.get(`/app/projects?team=${id}`)).html);
    expect(await of(second.team_id)).toEqual({ [team.team_id]: false, [second.team_id]: true });
    // The list of a team where one is a guest offers the others.
    expect(new Set(Object.keys(await of(third.team_id)))).toEqual(new Set([team.team_id, second.team_id]));
    const refused = await browser.post('/app/projects', { team_id: second.team_id, name: ' ' });
    expect(offered(refused.html)).toEqual({ [team.team_id]: false, [second.team_id]: true });
    await app.as(team.admin).patch(`/api/projects/${project.project_id}`, { lead_id: team.member.user_id });
    const { html } = await browser.get(`/app/projects?team=${team.team_id}`);
    expect(html).toMatch(/Led by <\/span>[^]*?You</);
  });

  it('says how far each project is, and counts less of each where there are many', async () => {
    for (const [title, more] of [
      ['Late', { due_date: '2020-01-01' }],
      ['Done and late', { due_date: '2020-01-01', status: 'done' }],
      ['Open', {}],
    ] as const)
      await buildTask(app, team, project, { title, ...more });
    const { html } = await browser.get('/app/projects');
    expect(html).toMatch(/1 overdue<\/span> · 2 open\s+<progress aria-label="Done" value="1" max="3">/);
    for (let at = 0; at < 199; at += 1) await buildProject(app, team, { name: `P${at}` });
    await insertTasks(
      app,
      team,
      project,
      Array.from({ length: 50 }, () => ({})),
    );
    expect((await browser.get('/app/projects')).html).toContain('over 50 tasks');
  });

  it('keeps what was typed in a refused form', async () => {
    const refused = await browser.post('/app/projects', { team_id: team.team_id, name: ' ', description: 'Kept text' });
    expect([refused.status, refused.html.includes('Kept text')]).toEqual([422, true]);
  });

  it('creates nothing for guests, in teams of others, or without the token of the form', async () => {
    const guest = await signIn(app, team.guest);
    expect((await guest.get('/app/projects')).html).not.toContain('Create project');
    const csrf = readCsrf((await guest.get('/app')).html) ?? null;
    const form = { team_id: team.team_id, name: 'Sneaky' };
    expect((await guest.post('/app/projects', form, { csrf })).status).toBe(403);
    expect((await browser.post('/app/projects', form, { csrf: null })).status).toBe(403);
    const other = await buildTeam(app);
    expect((await browser.post('/app/projects', { ...form, team_id: other.team_id })).status).toBe(403);
    expect(await db()('projects').where({ name: 'Sneaky' })).toEqual([]);
  });
});

describe('the page of a project', () => {
  it('adds a task from one line, says how it was understood, and undoes it', async () => {
    const username = (await db()('users').where({ user_id: team.admin.user_id }).first('username')).username as string;
    const added = await follow(`${path}/tasks`, { text: `Fix the crane due 2030-05-01 @${username} !high #deck` });
    expect(added.html).toContain('Added “Fix the crane” · due Wed 1 May 2030 · for ');
    expect(await taskRow('Fix the crane')).toMatchObject({
      due_date: '2030-05-01',
      assigned_to: team.admin.user_id,
      priority: 'high',
      tags: ['deck'],
    });
    const undone = await undo(added.html);
    expect(undone.html).toContain('The change was undone');
    expect((await taskRow('Fix the crane')).deleted_at).not.toBeNull();
  });

  it('keeps a line that it does not understand, and says why', async () => {
    const wrong = await browser.post(`${path}/tasks`, { text: 'Fix it @nobody-here' }, { from: path });
    expect([wrong.status, wrong.html.includes('value="Fix it @nobody-here"')]).toEqual([422, true]);
    expect(wrong.html).toContain('No member of the team matches @nobody-here');
    expect(wrong.html).toMatch(/<a href="[^"]+" aria-current="page">List</);
    const long = await browser.post(`${path}/tasks`, { text: `x #${'y'.repeat(60)}` }, { from: path });
    expect([long.status, long.html.includes('Tags: At most 50 characters')]).toEqual([422, true]);
    expect(await db()('tasks').where(project)).toEqual([]);
  });

  it('says what a line means before it is added, by the words with which it is added, and creates nothing', async () => {
    const { username } = await db()('users').where({ user_id: team.admin.user_id }).first('username');
    const text = `Fix the crane due 2030-05-01 @${username} !hi #deck every monday`;
    const read = async (line: string, of = browser, more = {}) =>
      of.get(`/app/tasks/line?${String(new URLSearchParams({ ...project, text: line, ...more }))}`);
    const chips = ({ html }: { html: string }) => [...html.matchAll(/class="chip">([^<]*)</g)].map(([, fact]) => fact);
    const { html } = await read(text);
    expect(html).not.toContain('<html');
    expect(html).toContain('<span>Fix the crane</span>');
    expect(await db()('tasks').where(project)).toEqual([]);
    const added = await follow(`${path}/tasks`, { text });
    expect(added.html).toContain(`Added “Fix the crane” · ${chips({ html }).join(' · ')} · TEA-1`);
    expect(chips(await read('Paint', browser, { status: 'in_review' }))).toEqual(['In review']);
    expect((await read('Paint @nobody-here <b>')).html).toContain('No member of the team matches @nobody-here.');
    for (const line of ['', 'Just a title', 'x'.repeat(2_000)]) expect((await read(line)).html.trim()).toBe('');
    expect((await read(`Many ${Array.from({ length: 30 }, (_, at) => `#t${at}`).join(' ')}`)).html).toContain('Tags: ');
    const other = await buildTeam(app);
    await givePasswords(app);
    expect((await read(text, await signIn(app, other.member))).status).toBe(403);
  });

  it('the name of its own project is a tag', async () => {
    await app.services.db('projects').where({ project_id: project.project_id }).update({ name: 'Harbour Works' });
    await browser.post(`${path}/tasks`, { text: 'Dredge #harbour-works' }, { from: path });
    const row = await app.services.db('tasks').where({ title: 'Dredge', project_id: project.project_id }).first();
    expect(row.tags).toEqual(['harbour-works']);
  });

  it('#name adds to another project of the team, never to one of another team', async () => {
    const other = await buildProject(app, team, { name: 'Dock works' });
    await buildProject(app, await buildTeam(app), { name: 'Elsewhere' });
    await follow(`${path}/tasks`, { text: 'Weld #dock-works' });
    expect(await db()('tasks').where({ title: 'Weld' }).where(other).first()).toMatchObject({ tags: [] });
    await follow(`${path}/tasks`, { text: 'Paint #elsewhere' });
    expect(await taskRow('Paint')).toMatchObject({ tags: ['elsewhere'] });
  });

  it('groups the list by status, assignee or priority, and saves the grouping in a view', async () => {
    for (const [title, more] of [
      ['A', { status: 'todo', assigned_to: team.admin.user_id, priority: 'urgent' }],
      ['B', { status: 'in_progress', assigned_to: team.admin.user_id }],
      ['C', { status: 'todo' }],
    ] as const)
      await buildTask(app, team, project, { title, ...more });
    const heads = (html: string) =>
      [...html.matchAll(/class="group"><h2>([^<]+?) <span class="aside">(\d*)<\/span>/g)].map(
        ([, name, count]) => `${name} ${count}`,
      );
    const rows = (html: string) => [...html.matchAll(/<strong>([ABC])<\/strong>/g)].map(([, title]) => title).join('');
    const byStatus = (await browser.get(`${path}?group=status`)).html;
    expect([heads(byStatus), rows(byStatus)]).toEqual([['To do 2', 'In progress 1'], 'CAB']);
    const byPerson = (await browser.get(`${path}?group=assigned_to&sort=title`)).html;
    expect(heads(byPerson).map((head) => head.replace(/^.* (\d)$/, '$1'))).toEqual(['2', '1']);
    expect([rows(byPerson), byPerson.includes('Nobody')]).toEqual(['ABC', true]);
    expect(heads((await browser.get(`${path}?group=priority`)).html)).toHaveLength(2);
    expect(heads((await browser.get(path)).html)).toEqual([]);
    for (const query of ['?group=nonsense', '?group=__proto__', '?group=project_id', '?group=a&group=b']) {
      const { html, status } = await browser.get(`${path}${query}`);
      const said = 'Invalid field: group. A list of tasks is grouped by status, assignee, priority, or cycle';
      expect([query, status, html.includes(said)]).toEqual([query, 422, true]);
    }
    const saved = await follow(`${path}/views?group=status`, { name: 'Grouped' });
    expect(heads(saved.html)).toEqual(['To do 2', 'In progress 1']);
    expect(await db()('saved_views').where({ name: 'Grouped', team_id: team.team_id }).first()).toMatchObject({
      group_by: 'status',
    });
  });

  it('filters by address, shows pages, and ignores nonsense', async () => {
    for (let at = 0; at < 52; at += 1) await buildTask(app, team, project, { title: `Task ${at}`, priority: 'low' });
    await buildTask(app, team, project, { title: 'Mine', priority: 'urgent', assigned_to: team.member.user_id, tags: ['deck'] });
    await buildTask(app, team, project, { title: 'Finished', status: 'done' });
    const first = (await browser.get(path)).html;
    expect([first.includes('Mine'), first.includes('Finished'), first.includes('Task 3<'), first.includes('rel="next"')]).toEqual(
      [true, false, true, true],
    );
    const second = (await browser.get(`${path}?offset=50`)).html;
    expect([second.includes('Task 0<'), second.includes('Mine'), second.includes('rel="prev"')]).toEqual([true, false, true]);
    for (const query of ['assigned_to=me', 'priority=urgent', 'tag=deck', 'q=mine']) {
      const { html } = await browser.get(`${path}?${query}`);
      expect([query, html.includes('Mine'), html.includes('Task 3<')]).toEqual([query, true, false]);
    }
    expect((await browser.get(`${path}?show=done`)).html).toContain('Finished');
    expect(first).toContain('title="Mark done" aria-label="Mark done: Mine"></button>');
    expect(first).toContain('aria-label="Search" placeholder="Search"');
    const odd = await browser.get(`${path}?show=x&assigned_to=%00&priority=1&due_before=never&sort=password&offset=-1&q=%00`);
    expect([odd.status, odd.html.includes('Mine')]).toEqual([200, true]);
  });

  it('is not for strangers, not for what is no project, and has no form for guests', async () => {
    const task = await buildTask(app, team, project, { title: 'Seen' });
    const guest = await signIn(app, team.guest);
    const seen = await guest.get(path);
    expect([seen.status, seen.html.includes('Seen'), seen.html.includes('/tasks"')]).toEqual([200, true, false]);
    const csrf = readCsrf(seen.html) ?? null;
    expect((await guest.post(`${path}/tasks`, { text: 'x' }, { csrf })).status).toBe(403);
    const other = await buildTeam(app);
    await givePasswords(app);
    const stranger = await signIn(app, other.member);
    const token = readCsrf((await stranger.get('/app')).html) ?? null;
    expect((await stranger.get(path)).status).toBe(403);
    expect((await stranger.post(`${path}/tasks`, { text: 'x' }, { csrf: token })).status).toBe(403);
    expect((await browser.get(`/app/projects/${task.task_id}`)).status).toBe(404);
    expect((await browser.post(`${path}/tasks`, { text: 'x' }, { csrf: null })).status).toBe(403);
    expect(await db()('tasks').where(project)).toHaveLength(1);
  });
});

describe('editing a project', () => {
  const about = () => `/app/items/${project.project_id}`;

  it('changes only what was changed, and undoes it', async () => {
    const { html } = await browser.get(about());
    const version = hidden(html, 'version');
    const form = {
      version,
      name: 'Port',
      'was-name': 'Harbour',
      status: 'active',
      'was-status': 'active',
      end_date: '2030-01-31',
    };
    const saved = await follow(`${about()}/project`, form, about());
    expect(saved.html).toContain('Name and end date changed');
    expect(await db()('projects').where(project).first()).toMatchObject({ name: 'Port', end_date: expect.anything() });
    expect((await undo(saved.html)).html).toContain('The change was undone');
    expect(await db()('projects').where(project).first()).toMatchObject({ name: 'Harbour', end_date: null });
  });

  it('has a lead and days that are saved where they stand; an end before the start is refused', async () => {
    const { html } = await browser.get(about());
    const version = hidden(html, 'version');
    const was = { 'was-status': 'active', 'was-lead_id': '', 'was-start_date': '', 'was-end_date': '' };
    const form = { ...was, version, status: 'active', lead_id: team.manager.user_id, start_date: '2030-01-01', end_date: '' };
    const saved = await follow(`${about()}/project`, form, about());
    expect(saved.html).toContain('Lead and start date changed');
    expect(saved.html).toContain(`<option value="${team.manager.user_id}" selected>`);
    expect(saved.html).toMatch(/changed start date from none to 1 Jan[^,<]*, lead from nobody to/);
    const wrong = {
      ...form,
      version: hidden(saved.html, 'version'),
      'was-lead_id': team.manager.user_id,
      end_date: '2029-01-01',
    };
    const refused = await browser.post(`${about()}/project`, { ...wrong, 'was-start_date': '2030-01-01' }, { from: about() });
    expect([refused.status, refused.html.includes('Last day must not be before first day')]).toEqual([400, true]);
    expect(refused.html).toContain('value="2029-01-01"');
    expect((await undo(saved.html)).html).toContain('The change was undone');
    expect(await db()('projects').where(project).first()).toMatchObject({ lead_id: null, start_date: null });
    const guest = await signIn(app, team.guest);
    await app.as(team.member).patch(`/api/projects/${project.project_id}`, { lead_id: team.guest.user_id });
    const read = (await guest.get(about())).html;
    expect(read).toMatch(/<dt>Lead<\/dt><dd>[^]*?You</);
    expect(read).not.toContain('name="lead_id"');
  });

  it('archives by a button; a form that was opened before says who changed what, and keeps what was typed', async () => {
    const version = hidden((await browser.get(about())).html, 'version');
    const archived = await follow(`${about()}/project`, { version, status: 'archived' }, about());
    expect(archived.html).toContain('Status changed');
    const late = { version, name: 'Typed name', 'was-name': 'Harbour', status: 'active', 'was-status': 'active' };
    const stale = await browser.post(`${about()}/project`, late, { from: about() });
    expect(stale.status).toBe(409);
    for (const part of ['<strong>You</strong>', 'changed status', 'value="Typed name"', '<option value="archived" selected>'])
      expect(stale.html).toContain(part);
    expect(await db()('projects').where(project).first()).toMatchObject({ name: 'Harbour', status: 'archived' });
    const saved = await follow(`${about()}/project`, { ...late, version: hidden(stale.html, 'version') }, about());
    expect(saved.html).toContain('Name changed');
    expect(await db()('projects').where(project).first()).toMatchObject({ name: 'Typed name', status: 'archived' });
  });

  it('is deleted with its tasks, and restored by Undo', async () => {
    await buildTask(app, team, project, { title: 'Inside' });
    const gone = await follow(`${about()}/delete`, { version: '1' }, about());
    expect(gone.html).toContain('Harbour is in the trash');
    expect((await browser.get(path)).status).toBe(404);
    await follow('/app/undo', { undo: hidden(gone.html, 'undo'), back: path }, '/app/projects');
    expect((await browser.get(path)).html).toContain('Inside');
  });

  it('is not deleted from a page that was opened before another change', async () => {
    const version = hidden((await browser.get(about())).html, 'version');
    await app.as(team.admin).patch(`/api/projects/${project.project_id}`, { description: 'Keep this', end_date: '2030-01-31' });
    const stale = await follow(`${about()}/delete`, { version }, about());
    expect(stale.html).toContain('Nothing was deleted. Description and end date changed after you opened the page');
    expect(await db()('projects').where(project).first()).toMatchObject({ deleted_at: null, version: 2 });
    const gone = await follow(`${about()}/delete`, { version: hidden(stale.html, 'version') }, about());
    expect(gone.html).toContain('Harbour is in the trash');
  });
});

describe('ticked tasks', () => {
  const boxes = (html: string): string[] => [...html.matchAll(/name="task" value="([^"]+)"/g)].map(([, value = '']) => value);

  it('are counted by whether they changed, as their Undo counts them', async () => {
    for (const [title, priority] of [
      ['A', 'high'],
      ['B', 'low'],
      ['C', 'low'],
    ] as const)
      await buildTask(app, team, project, { title, priority });
    const change = async (priority: string) =>
      follow('/app/tasks/change', { task: boxes((await browser.get(path)).html), priority, back: path });
    const changed = (await change('high')).html;
    expect(changed).toContain('2 tasks changed; one was so already');
    expect((await undo(changed)).html).toContain('2 changes were undone');
    await change('urgent');
    expect((await change('urgent')).html).toContain('All 3 tasks are so already');
  });

  it('are changed together and each leaves its audit entry; Undo takes all back, in pages of a hundred too', async () => {
    const tasks = Array.from({ length: 100 }, (_, at) => ({ title: `Row ${at}`, ...project }));
    await app.as(team.member).post('/api/tasks/bulk', tasks);
    const pages = await Promise.all([browser.get(path), browser.get(`${path}?offset=50`)]);
    const task = pages.flatMap(({ html }) => boxes(html));
    expect(task).toHaveLength(100);
    const back = `${path}?sort=title`;
    const changed = await browser.post(
      '/app/tasks/change',
      { task, status: 'in_review', assigned_to: team.admin.user_id, back },
      { from: path },
    );
    expect([changed.status, location(changed)]).toEqual([303, back]);
    const shown = await browser.get(back);
    expect(shown.html).toContain('100 tasks changed');
    const rows = () => db()('tasks').where(project).distinct('status', 'assigned_to', 'version');
    expect(await rows()).toEqual([{ status: 'in_review', assigned_to: team.admin.user_id, version: 2 }]);
    const undone = await undo(shown.html);
    expect(undone.html).toContain('100 changes were undone');
    expect(await rows()).toEqual([{ status: 'todo', assigned_to: null, version: 3 }]);
    const ids = (await db()('tasks').where(project).select('task_id')).map(({ task_id }) => task_id as string);
    expect(await db()('audit_entries').whereIn('entity_id', ids).where({ action: 'update' })).toHaveLength(200);
  });

  it('that changed since are left alone, and the page says how many', async () => {
    await buildTask(app, team, project, { title: 'Theirs' });
    await buildTask(app, team, project, { title: 'Ours' });
    const task = boxes((await browser.get(path)).html);
    await app.as(team.admin).patch(`/api/tasks/${(await taskRow('Theirs')).task_id}`, { priority: 'urgent' });
    const some = await follow('/app/tasks/change', { task, priority: 'low' });
    expect(some.html).toContain('One task changed. “Theirs” was left alone: changed since you opened the list.');
    expect([(await taskRow('Theirs')).priority, (await taskRow('Ours')).priority]).toEqual(['urgent', 'low']);
    await undo(some.html);
    expect([(await taskRow('Theirs')).priority, (await taskRow('Ours')).priority]).toEqual(['urgent', 'medium']);
  });

  it('left by one failure of ours: the page says what was changed and what not, and Undo takes back what was', async () => {
    // A fault of the database for one task: an error that no caller is to blame for.
    await db().raw(`create function break_one() returns trigger language plpgsql as $$
      begin raise exception 'broken' using errcode = 'XX000'; end $$`);
    const breakTask = (id: string) =>
      db().raw(`create or replace trigger break_one before update on tasks for each row when (old.task_id = '${id}')
        execute function break_one()`);
    const tasks = Array.from({ length: 45 }, (_, at) => ({ title: `Row ${at}`, ...project }));
    await app.as(team.member).post('/api/tasks/bulk', tasks);
    const task = boxes((await browser.get(`${path}?sort=title`)).html);
    // Twenty are changed at a time; the broken one is in the second lot.
    const [broken = '', first = ''] = [task[25], task[0]].map((box) => box?.slice(2));
    await breakTask(broken);
    const title = async (id: string) => (await db()('tasks').where({ task_id: id }).first('title')).title as string;
    const some = await follow('/app/tasks/change', { task, priority: 'low' });
    expect(some.html).toContain(
      `39 tasks changed. Look at “${await title(broken)}” before you try again: Internal error. 5 tasks were not tried.`,
    );
    const low = () => db()('tasks').where({ ...project, priority: 'low' });
    expect(await low()).toHaveLength(39);
    // By the time of the undo one has changed again, and another breaks, in the first lot.
    await app.as(team.admin).patch(`/api/tasks/${first}`, { status: 'done' });
    const second = (task[1] as string).slice(2);
    await breakTask(second);
    const undone = await undo(some.html);
    for (const part of [
      '18 changes were undone. ',
      `“${await title(first)}” was left alone: changed again since.`,
      `Look at “${await title(second)}” before you try again: Internal error. 19 tasks were not tried.`,
    ])
      expect(undone.html).toContain(part);
    await db().raw('drop trigger break_one on tasks');
    expect((await undo(undone.html)).html).toContain('20 changes were undone');
    expect(await low()).toEqual([expect.objectContaining({ task_id: first })]);
  });

  it('get tags and lose tags, each with its own others, and Undo gives them back', async () => {
    await buildTask(app, team, project, { title: 'One', tags: ['old', 'own'] });
    await buildTask(app, team, project, { title: 'Two', tags: ['new'] });
    await buildTask(app, team, project, { title: 'Full', tags: Array.from({ length: 20 }, (_, at) => `t${at}`) });
    const task = boxes((await browser.get(path)).html);
    const some = await follow('/app/tasks/change', { task, add_tag: '#new', remove_tag: 'old' });
    expect(some.html).toContain('One task changed; one was so already. “Full” was left alone: tags must have at most 20 items.');
    const tags = async () => [(await taskRow('One')).tags, (await taskRow('Two')).tags, (await taskRow('Two')).version];
    expect(await tags()).toEqual([['own', 'new'], ['new'], 1]);
    expect((await undo(some.html)).html).toContain('The change was undone');
    expect(await tags()).toEqual([['old', 'own'], ['new'], 1]);
  });

  it('move to a cycle and to the backlog, with other fields too, and Undo takes all back', async () => {
    const as = app.as(team.member);
    const [first, second] = [
      await createCycle(as, { ...project, name: 'C1' }),
      await createCycle(as, { ...project, name: 'C2' }),
    ];
    const [one = '', two = ''] = await insertTasks(app, team, project, [{ title: 'One' }, { title: 'Two' }]);
    await as.post(`/api/sprints/${first.cycle_id}/tasks`, { task_ids: [one] });
    const page = await browser.get(path);
    for (const { cycle_id } of [first, second]) expect(page.html).toContain(`<option value="${cycle_id}">`);
    const rows = async () => (await db()('tasks').where(project).orderBy('title')).map((each) => [each.cycle_id, each.priority]);
    const moved = await follow('/app/tasks/change', { task: boxes(page.html), cycle: second.cycle_id, priority: 'low' });
    expect(moved.html).toContain('2 tasks changed');
    expect(await rows()).toEqual([
      [second.cycle_id, 'low'],
      [second.cycle_id, 'low'],
    ]);
    expect((await undo(moved.html)).html).toContain('2 changes were undone');
    const before = [
      [first.cycle_id, 'medium'],
      [null, 'medium'],
    ];
    expect(await rows()).toEqual(before);
    const gone = await follow('/app/tasks/change', { task: boxes((await browser.get(path)).html), cycle: 'backlog' });
    expect(gone.html).toContain('One task changed; one was so already');
    expect((await taskRow('One')).cycle_id).toBeNull();
    // What has changed since stays as it is.
    await as.patch(`/api/tasks/${one}`, { title: 'One, again' });
    expect((await undo(gone.html)).html).toContain('Nothing was undone');
    expect((await taskRow('One, again')).cycle_id).toBeNull();
    expect((await taskRow('Two')).task_id).toBe(two);
  });

  it('move to a cycle by the hundred, and back', async () => {
    const cycle = await createCycle(app.as(team.member), { ...project });
    await insertTasks(
      app,
      team,
      project,
      Array.from({ length: 100 }, (_, at) => ({ title: `Row ${at}` })),
    );
    const pages = await Promise.all([browser.get(path), browser.get(`${path}?offset=50`)]);
    const task = pages.flatMap(({ html }) => boxes(html));
    const moved = await follow('/app/tasks/change', { task, cycle: cycle.cycle_id, status: 'in_review' });
    expect(moved.html).toContain('100 tasks changed');
    expect(await db()('tasks').where({ cycle_id: cycle.cycle_id, status: 'in_review' })).toHaveLength(100);
    expect((await undo(moved.html)).html).toContain('100 changes were undone');
    expect(
      await db()('tasks')
        .where({ ...project, status: 'todo' })
        .whereNull('cycle_id'),
    ).toHaveLength(100);
  });

  it('go into no cycle of another project or team, and into none that is completed', async () => {
    const own = await buildTask(app, team, project, { title: 'Own' });
    const as = app.as(team.member);
    const elsewhere = await createCycle(as, await buildProject(app, team));
    const other = await buildTeam(app);
    const foreign = await createCycle(app.as(other.member), { team_id: other.team_id });
    const over = await createCycle(as, project);
    await as.post(`/api/sprints/${over.cycle_id}/start`, {});
    await as.post(`/api/sprints/${over.cycle_id}/complete`, {});
    for (const cycle of [elsewhere.cycle_id, foreign.cycle_id, over.cycle_id, 'nonsense']) {
      const { html } = await follow('/app/tasks/change', { task: [`1:${own.task_id}`], cycle, priority: 'low' });
      expect(html).toContain('class="notice bad toast"');
    }
    expect(await taskRow('Own')).toMatchObject({ cycle_id: null, priority: 'medium', version: 1 });
  });

  it('go to the trash and come back', async () => {
    await buildTask(app, team, project, { title: 'One' });
    await buildTask(app, team, project, { title: 'Two' });
    const gone = await follow('/app/tasks/change', { task: boxes((await browser.get(path)).html), act: 'delete' });
    expect(gone.html).toContain('2 tasks in the trash');
    expect(await db()('tasks').where(project).whereNull('deleted_at')).toEqual([]);
    await undo(gone.html);
    expect(await db()('tasks').where(project).whereNull('deleted_at')).toHaveLength(2);
  });

  it('of others, too many, none, or without a change are refused', async () => {
    const own = await buildTask(app, team, project, { title: 'Own' });
    const other = await buildTeam(app);
    const foreign = await buildTask(app, other, await buildProject(app, other), { title: 'Foreign' });
    const send = async (form: Record<string, string | string[]>) => (await follow('/app/tasks/change', form)).html;
    const refused = await send({ task: [`1:${foreign.task_id}`], status: 'done' });
    expect([refused.includes('Nothing was changed.'), refused.includes('Foreign')]).toEqual([true, false]);
    expect(await send({ task: Array(101).fill(`1:${own.task_id}`), status: 'done' })).toContain('At most 100 tasks');
    expect(await send({ status: 'done' })).toContain('Tick a task first');
    expect(await send({ task: [`1:${own.task_id}`] })).toContain('Choose what to change');
    expect(await send({ task: [`1:${own.task_id}`], status: 'nonsense' })).toContain('class="notice bad toast"');
    expect(await send({ task: ['x', `99999999999:${own.task_id}`], status: 'done' })).toContain('class="notice bad toast"');
    expect((await browser.post('/app/tasks/change', { task: `1:${own.task_id}`, status: 'done' }, { csrf: null })).status).toBe(
      403,
    );
    expect(await db()('tasks').whereIn('task_id', [own.task_id, foreign.task_id]).distinct('status')).toEqual([
      { status: 'todo' },
    ]);
  });
});

it('saves the filters of a list as a view with the same tasks', async () => {
  await buildTask(app, team, project, { title: 'Wanted', priority: 'high' });
  await buildTask(app, team, project, { title: 'Unwanted', priority: 'low' });
  const listed = await browser.get(`${path}?priority=high&sort=due_date`);
  expect(listed.html).toContain(`${path}/views?priority=high&amp;sort=due_date`);
  const saved = await follow(`${path}/views?priority=high&sort=due_date`, { name: 'Hot', is_shared: 'yes' });
  for (const [text, isShown] of [
    ['View saved', true],
    ['Wanted', true],
    ['Unwanted', false],
    ['priority high', true],
  ] as const)
    expect([text, saved.html.includes(text)]).toEqual([text, isShown]);
  expect(await db()('saved_views').where({ name: 'Hot', owner_id: team.member.user_id }).first()).toMatchObject({
    is_shared: true,
    filters: { project_id: [project.project_id], status: ['todo', 'in_progress', 'in_review'], priority: ['high'] },
    sort: [{ field: 'due_date', direction: 'asc' }],
  });
  const wrong = await browser.post(`${path}/views?priority=high`, { name: ' ' }, { from: path });
  expect(wrong.status).toBe(422);
});

describe('boards', () => {
  it('a card has its priority as rows have it, and a date that does not break', async () => {
    const facts = { due_date: '2031-12-10', estimate: 2 };
    await buildTask(app, team, project, { title: 'Weld', priority: 'urgent', ...facts });
    await buildTask(app, team, project, { title: 'Plain', priority: 'none' });
    const { html } = await browser.get(`${path}/board`);
    expect(html).toMatch(
      /<p class="fine"><span class="chip urgent">Urgent<\/span> [A-Z]+-\d+ · 2 points · <span class="due">due 10 Dec(?: 2031)?</,
    );
    expect(html.match(/class="chip (?:urgent|medium)"/g)).toHaveLength(1);
    await db()('tasks').where({ title: 'Plain', project_id: project.project_id }).update({ due_date: '2020-01-01' });
    expect((await browser.get(`${path}/board`)).html).toContain('<span class="due late">overdue 1 Jan');
  });

  it('say what blocks a task, what it is part of, and how many comments it has, on cards and rows', async () => {
    const make = async (title: string, more = {}) => (await buildTask(app, team, project, { title, ...more })).task_id;
    const [parent, wheels, done] = [await make('Crane'), await make('Wheels'), await make('Paint', { status: 'done' })];
    const arm = await make('Arm', { parent_task_id: parent });
    const elsewhere = await buildTeam(app);
    const theirs = await buildTask(app, elsewhere, await buildProject(app, elsewhere), { title: 'Secret order' });
    const block = (source_id: string) => ({
      relation_id: randomUUID(),
      relation_type: 'blocks',
      source_id,
      target_id: arm,
      kind: 'blocks',
      from_id: source_id,
      to_id: arm,
      team_id: team.team_id,
      from_team_id: source_id === theirs.task_id ? elsewhere.team_id : team.team_id,
      to_team_id: team.team_id,
      created_by: team.member.user_id,
    });
    await db()('relations').insert([block(done), block(theirs.task_id)]);
    for (const content of ['One', 'Two']) await app.as(team.member).post(`/api/tasks/${arm}/comments`, { content });
    const both = async () => (await browser.get(path)).html + (await browser.get(`${path}/board`)).html;
    const free = await both();
    expect(free).not.toContain('blocked by');
    expect(free).not.toContain('Secret order');
    await db()('relations').insert(block(wheels));
    const html = await both();
    expect(html.match(/title="Wheels">blocked by TEA-2</g)).toHaveLength(2);
    expect(html.match(/part of TEA-1 · 2 comments/g)).toHaveLength(2);
    await app.as(team.member).patch(`/api/tasks/${wheels}`, { status: 'done' });
    expect(await both()).not.toContain('blocked by');
  });

  it('show the tags of a card and how many of its subtasks are done, by one statement for all cards', async () => {
    for (const [at, tags] of [['a', 'b', 'c', 'd', 'e', 'f'], ['solo'], []].entries()) {
      const { task_id } = await buildTask(app, team, project, { title: `Parent ${at}`, tags });
      const subtasks = ['done', 'todo', 'done'].map((status, n) => ({
        title: `Sub ${at}-${n}`,
        status,
        parent_task_id: task_id,
        ...project,
      }));
      if (at < 2) await app.as(team.member).post('/api/tasks/bulk', subtasks);
    }
    await app.as(team.member).delete(`/api/tasks/${(await taskRow('Sub 1-0')).task_id}`);
    const { html } = await browser.get(`${path}/board`);
    const card = (title: string) =>
      new RegExp(`<li[^>]*data-task[^>]*>(?:(?!</li>).)*>${title}</a>(?:(?!</li>).)*</li>`, 's').exec(html)?.[0] ?? '';
    const tagsOf = (title: string) => [...card(title).matchAll(/<bdi>([^<]*)<\/bdi>/g)].map(([, tag]) => tag);
    expect([tagsOf('Parent 0'), tagsOf('Parent 1'), tagsOf('Parent 2')]).toEqual([['a', 'b', 'c', 'd'], ['solo'], []]);
    expect(card('Parent 0')).toMatch(/\+2<span class="unseen"> more tags/);
    expect([card('Parent 0'), card('Parent 1')].map((one) => /(\d of \d subtasks)/.exec(one)?.[1])).toEqual([
      '2 of 3 subtasks',
      '1 of 2 subtasks',
    ]);
    expect(card('Parent 2')).not.toContain('subtask');
    const statements = await captureStatements(() => browser.get(`${path}/board`));
    expect(statements.filter(({ name }) => name === 'surroundings_of_tasks')).toHaveLength(1);
  });

  it('of a project: a column a status with its count, and a form that moves', async () => {
    const { task_id } = await buildTask(app, team, project, { title: 'Movable' });
    await app.as(team.member).post(
      '/api/tasks/bulk',
      Array.from({ length: 52 }, (_, at) => ({ title: `Row ${at}`, ...project })),
    );
    const board = `${path}/board`;
    const { html } = await browser.get(board);
    expect([...html.matchAll(/data-status="(\w+)"/g)].map(([, status]) => status)).toEqual([
      'todo',
      'in_progress',
      'in_review',
      'done',
    ]);
    expect(html).toContain('3 more</a>');
    const moved = await follow('/app/tasks/move', { to: `in_progress:1:${task_id}`, back: board }, board);
    expect(moved.html).toContain('Moved to In progress');
    expect(moved.html).toContain(`value="in_review:2:${task_id}"`);
    await undo(moved.html);
    expect(await taskRow('Movable')).toMatchObject({ status: 'todo', version: 3 });
    for (const to of ['done', 'nowhere:1:x', `done:0:${task_id}`, `done:9999999999:${task_id}`]) {
      const refused = await browser.post('/app/tasks/move', { to, back: 'https://evil.example' }, { from: board });
      expect([to, refused.status, location(refused)]).toEqual([to, 303, '/app']);
    }
    expect((await taskRow('Movable')).status).toBe('todo');
    const guest = await signIn(app, team.guest);
    const seen = await guest.get(board);
    expect([seen.html.includes('Row 3'), seen.html.includes('draggable')]).toEqual([true, false]);
    const csrf = readCsrf(seen.html) ?? null;
    const denied = await guest.post('/app/tasks/move', { to: `done:3:${task_id}`, back: board }, { csrf });
    expect([denied.status, (await taskRow('Movable')).status]).toEqual([303, 'todo']);
  });

  it('of a project: a line adds to the column in which it was typed, and keeps the filters', async () => {
    const board = `${path}/board?priority=high`;
    const added = await browser.post(board, { text: 'Weld !high', status: 'in_review' }, { from: board });
    expect([added.status, location(added)]).toEqual([303, board]);
    const shown = await browser.get(board);
    expect(shown.html).toContain('Added “Weld” · In review · high');
    expect(await taskRow('Weld')).toMatchObject({ status: 'in_review', completed_at: null });
    await undo(shown.html);
    expect((await taskRow('Weld')).deleted_at).not.toBeNull();
    await browser.post(board, { text: 'Old', status: 'done' }, { from: board });
    expect(await taskRow('Old')).toMatchObject({ status: 'done', completed_at: expect.anything() });
    const wrong = await browser.post(board, { text: 'Fix it @nobody-here', status: 'in_progress' }, { from: board });
    expect([wrong.status, /<a href="[^"]+\/board\?priority=high" aria-current="page">Board/.test(wrong.html)]).toEqual([
      422,
      true,
    ]);
    expect(wrong.html).toMatch(/id="f-text-in_progress"[^>]*value="Fix it @nobody-here" aria-invalid="true"/);
    expect(wrong.html.match(/No member of the team matches/g)).toHaveLength(1);
    expect((await browser.post(board, { text: 'x', status: 'nowhere' }, { from: board })).html).toContain('Check the');
    const guest = await signIn(app, team.guest);
    const csrf = readCsrf((await guest.get(board)).html) ?? null;
    expect((await guest.get(board)).html).not.toContain('name="text"');
    expect((await guest.post(board, { text: 'x', status: 'todo' }, { csrf })).status).toBe(403);
    expect((await browser.post(board, { text: 'x', status: 'todo' }, { csrf: null })).status).toBe(403);
    expect(await taskRow('x')).toBeUndefined();
  });

  it('of a project: has the filters of the list except the status, and says where there is nothing', async () => {
    await buildTask(app, team, project, { title: 'Mine', priority: 'urgent', assigned_to: team.member.user_id, tags: ['deck'] });
    await buildTask(app, team, project, { title: 'Other', due_date: '2030-05-01' });
    const all = (await browser.get(`${path}/board`)).html;
    expect([all.includes('Mine'), all.includes('Other'), all.match(/<li class="none">No tasks/g)?.length]).toEqual([
      true,
      true,
      3,
    ]);
    expect([all.includes('name="show"'), all.includes('"Active filters"')]).toEqual([false, false]);
    for (const query of ['assigned_to=me', 'priority=urgent', 'tag=deck', 'q=mine', 'due_before=2030-01-01&tag=deck']) {
      const { html } = await browser.get(`${path}/board?${query}`);
      const shown = [html.includes('>Mine</a>'), html.includes('>Other</a>'), html.includes('"Active filters"')];
      if (!query.startsWith('due')) expect([query, ...shown]).toEqual([query, true, false, true]);
      else expect([query, ...shown]).toEqual([query, false, false, true]);
    }
    const inOrder = async (query: string) =>
      [...(await browser.get(`${path}/board${query}`)).html.matchAll(/>(Mine|Other)<\/a>/g)].map(([, title]) => title);
    expect([await inOrder(''), await inOrder('?sort=due_date')]).toEqual([
      ['Mine', 'Other'],
      ['Other', 'Mine'],
    ]);
  });

  it('of a cycle: its tasks, for members only', async () => {
    const [task_id = ''] = await insertTasks(app, team, project, [{ title: 'In the cycle' }]);
    const { cycle_id } = await createCycle(app.as(team.member), project);
    await app.as(team.member).post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [task_id] });
    const board = `/app/cycles/${cycle_id}/board`;
    const { html } = await browser.get(board);
    expect([html.includes('In the cycle'), html.includes('draggable="true"')]).toEqual([true, true]);
    const other = await buildTeam(app);
    await givePasswords(app);
    const stranger = await signIn(app, other.member);
    for (const page of [board, `${path}/board`]) expect((await stranger.get(page)).status).toBe(403);
  });
});
