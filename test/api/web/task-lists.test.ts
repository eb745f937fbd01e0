import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Lists of tasks, which are the same on every page.

let app: TestApp;
let team: TestTeam;
let other: TestTeam;
let browser: Browser;
let project: { project_id: string };
const db = () => app.services.db;
const row = (task_id: string) => db()('tasks').where({ task_id }).first();
const boxes = (html: string): string[] =>
  [...html.matchAll(/form="bulk" name="task" value="([^"]*)"/g)].map(([, value = '']) => value);
const picks = (html: string): string[] =>
  [...html.matchAll(/form="pick" name="pick" value="([^"]*)"/g)].map(([, value = '']) => value);
const follow = async (path: string, form: Record<string, string | string[]>, from = path) => {
  const answer = await browser.post(path, form, { from });
  return browser.get(answer.headers.get('location') as string);
};
const undo = async (html: string) => {
  const packed = /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '';
  return follow('/app/undo', { undo: packed, back: '/app' }, '/app');
};
const createView = async (fields: Record<string, unknown> = {}): Promise<string> => {
  const { body } = await app
    .as(team.member)
    .post('/api/saved-views', { name: 'All', entity_type: 'task', layout: 'list', ...fields });
  return `/app/views/${body.view_id as string}`;
};

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  other = await buildTeam(app);
  project = await buildProject(app, team);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('a list of tasks', () => {
  it('has boxes, the bar, choosers and buttons in a project, views, a cycle, a search and on the home page', async () => {
    const cycle = await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring' });
    const task = await buildTask(app, team, project, {
      title: 'Paint the crane',
      assigned_to: team.member.user_id,
      priority: 'high',
    });
    await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [task.task_id] });
    const { version } = await row(task.task_id);
    const id = `${version as number}:${task.task_id}`;
    const pages = [
      `/app/projects/${project.project_id}`,
      await createView(),
      await createView({ entity_type: 'work_item', team_id: team.team_id }),
      `/app/cycles/${cycle.cycle_id}`,
      '/app/search?q=crane',
      '/app',
    ];
    for (const path of pages) {
      const { html } = await browser.get(path);
      expect([path, boxes(html)]).toEqual([path, [id]]);
      expect([path, picks(html).includes(`status:${id}`)]).toEqual([path, true]);
      expect([path, html.includes(`name="to" value="done:${id}"`)]).toEqual([path, true]);
      expect([path, html.includes(`<option value="${team.admin.user_id}">`)]).toEqual([path, true]);
      expect([path, html.includes(`<option value="${cycle.cycle_id}">`)]).toEqual([path, true]);
      const changed = await follow('/app/tasks/change', { task: id, priority: 'urgent', back: path }, path);
      expect([path, changed.html.includes('One task changed')]).toEqual([path, true]);
      expect(await row(task.task_id)).toMatchObject({ priority: 'urgent' });
      // The next page shows the same version again.
      await db()('tasks').where({ task_id: task.task_id }).update({ version, priority: 'high' });
    }
  });

  it('over several teams changes each task by the rights in its own', async () => {
    const { user_id } = team.member;
    await db()('memberships').insert({ team_id: other.team_id, user_id, role: 'guest' });
    const mine = await buildTask(app, team, project, { title: 'Ours' });
    const theirs = await buildTask(app, other, await buildProject(app, other), { title: 'Theirs' });
    const path = await createView();
    const { html } = await browser.get(path);
    expect([html.includes('Theirs'), boxes(html)]).toEqual([true, [`1:${mine.task_id}`]]);
    const bar = html.split('id="bulk"')[1] ?? '';
    expect([bar.includes(team.admin.user_id), bar.includes(other.admin.user_id)]).toEqual([true, false]);
    expect(html).toContain('Tick all 1');
    const both = await follow('/app/tasks/change', { task: [`1:${mine.task_id}`, `1:${theirs.task_id}`], status: 'done' }, path);
    expect(both.html).toContain('One task changed. “Theirs” was left alone');
    expect([(await row(mine.task_id)).status, (await row(theirs.task_id)).status]).toEqual(['done', 'todo']);
    const guest = await signIn(app, team.guest);
    const seen = (await guest.get(`/app/projects/${project.project_id}?show=all`)).html;
    expect([seen.includes('Ours'), boxes(seen), picks(seen), seen.includes('id="bulk"')]).toEqual([true, [], [], false]);
  });

  it('is grouped by cycle, in the order of creation, and in views by project too, with the names of both', async () => {
    const heads = (html: string) =>
      [...html.matchAll(/class="group"><h2>([^<]+?) <span class="aside">(\d*)<\/span>/g)].map(
        ([, name, count]) => `${name} ${count}`,
      );
    const [spring, summer] = [
      await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring' }),
      await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Autumn' }),
    ];
    const second = await buildProject(app, team);
    await db()('projects').where(second).update({ name: 'Second <b>' });
    for (const [title, place, cycle] of [
      ['One', project, summer],
      ['Two', project, spring],
      ['Three', second, spring],
      ['Four', second, undefined],
    ] as const) {
      const { task_id } = await buildTask(app, team, place, { title });
      if (cycle) await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [task_id] });
    }
    const list = `/app/projects/${project.project_id}?group=cycle_id`;
    expect(heads((await browser.get(list)).html)).toEqual(['Spring 1', 'Autumn 1']);
    const path = await createView({ team_id: team.team_id, group_by: 'cycle_id' });
    expect(heads((await browser.get(path)).html)).toEqual(['Spring 2', 'Autumn 1', 'No cycle 1']);
    const shown = (await browser.get(`${path}?show=all&group=project_id`)).html;
    expect(heads(shown).at(-1)).toBe('Second &lt;b&gt; 2');
    expect(shown).toContain('<option value="project_id" selected>Project</option>');
    expect(heads((await browser.get(`${path}?edited=yes`)).html)).toEqual([]);
    expect(heads((await browser.get(path)).html)).toHaveLength(3);
    const wrong = await browser.get(`${path}?group=title`);
    expect([wrong.status, wrong.html.includes('Grouping must be one of status, priority, assignee, project, cycle')]).toEqual([
      422,
      true,
    ]);
    const stored = () =>
      db()('saved_views')
        .where({ view_id: path.split('/').at(-1) })
        .first();
    const updated_at = ((await stored()).updated_at as Date).toISOString();
    const saved = await follow(`${path}?group=project_id`, { name: 'All', updated_at }, path);
    expect(saved.html).toContain('View saved');
    expect(await stored()).toMatchObject({ group_by: 'project_id' });
    const made = await follow('/app/views/new/copy?group=cycle_id', { name: 'New' }, '/app/views/new');
    expect(heads(made.html)).toHaveLength(3);
  });

  it('shows of a view the columns that it names', async () => {
    await buildTask(app, team, project, { title: 'One', assigned_to: team.member.user_id, priority: 'high', tags: ['red'] });
    const kinds = async (columns: string[]) => {
      const { html } = await browser.get(await createView({ columns }));
      return [picks(html).map((pick) => pick.split(':')[0]), html.includes('#red')];
    };
    expect(await kinds([])).toEqual([['priority', 'due', 'assignee', 'status'], true]);
    expect(await kinds(['assigned_to'])).toEqual([['assignee', 'status'], false]);
  });
});

describe('the chooser of a row', () => {
  it('is a page without scripts, and a choice is made at the version that the row showed, with Undo', async () => {
    const task = await buildTask(app, team, project, { title: '<i>Fix</i> it', assigned_to: team.member.user_id });
    const back = `/app/projects/${project.project_id}`;
    const open = (act: string, version = 1) =>
      browser.get(`/app/tasks/change?${String(new URLSearchParams({ pick: `${act}:${version}:${task.task_id}`, back }))}`);
    for (const [act, change] of [
      ['status', 'status:in_review'],
      ['assignee', `assigned_to:${team.admin.user_id}`],
      ['priority', 'priority:urgent'],
      ['due', 'due_date:nobody'],
      ['cycle', 'cycle:backlog'],
    ] as const) {
      const { html, status } = await open(act);
      expect([act, status, html.includes(`value="${change}"`)]).toEqual([act, 200, true]);
      expect(html).toContain('&lt;i&gt;Fix&lt;/i&gt; it');
    }
    const form = { task: `1:${task.task_id}`, change: 'status:in_review', back };
    const done = await follow('/app/tasks/change', form, back);
    expect(done.html).toContain('Moved to In review');
    expect(await row(task.task_id)).toMatchObject({ status: 'in_review' });
    await undo(done.html);
    expect(await row(task.task_id)).toMatchObject({ status: 'todo' });
    // The row is old by now.
    expect((await follow('/app/tasks/change', form, back)).html).toContain('changed since you opened the list');
  });

  it('takes words for a day, and for the original of a duplicate', async () => {
    const task = await buildTask(app, team, project, { title: 'Twice' });
    const original = await buildTask(app, team, project, { title: 'Anchor <b>' });
    const open = async (pick: string, q = '') =>
      (await browser.get(`/app/tasks/change?${String(new URLSearchParams({ pick: `${pick}:1:${task.task_id}`, q }))}`)).html;
    expect(await open('due', '2031-05-01')).toContain('value="due_date:2031-05-01"');
    expect(await open('status')).toContain(`form="opens" name="pick" value="duplicate:1:${task.task_id}"`);
    expect(await open('duplicate')).toContain('value="status:duplicate"');
    const found = await open('duplicate', 'anchor');
    expect([found.includes(`value="duplicate_of:${original.task_id}"`), found.includes('<b>')]).toEqual([true, false]);
    const form = { task: `1:${task.task_id}`, change: `duplicate_of:${original.task_id}` };
    expect((await follow('/app/tasks/change', form, '/app')).html).toContain('Closed as a duplicate of');
    expect(await row(task.task_id)).toMatchObject({ resolution: 'duplicate' });
  });

  it('refuses nonsense, and says nothing of the tasks of others', async () => {
    const theirs = await buildTask(app, other, await buildProject(app, other), { title: 'Hidden' });
    const status = async (pick: string) => (await browser.get(`/app/tasks/change?pick=${encodeURIComponent(pick)}`)).status;
    for (const pick of ['', 'status', 'title:1:x', 'status:0:x', 'status:x:y', 'status:99999999999:x'])
      expect([pick, await status(pick)]).toEqual([pick, 422]);
    expect([await status(`status:1:${theirs.task_id}`), await status('status:1:nothing')]).toEqual([404, 404]);
  });
});

describe('subtasks on the page of their parent', () => {
  it('are ticked done and reopened in place, each at the version that the page showed, with Undo', async () => {
    const parent = await buildTask(app, team, project, { title: 'Parent' });
    const child = await buildTask(app, team, project, { title: 'Child', parent_task_id: parent.task_id });
    const path = `/app/items/${parent.task_id}`;
    const button = (html: string) =>
      /<button form="move" name="to" value="(\w+:\d+):[^>]*aria-checked="(\w+)"/.exec(html)?.slice(1);
    const move = (to: string) => follow('/app/tasks/move', { to: `${to}:${child.task_id}`, back: path }, path);
    const { html } = await browser.get(path);
    expect([button(html), picks(html).at(-1)]).toEqual([['done:1', 'false'], `status:1:${child.task_id}`]);
    const done = await move('done:1');
    expect([done.html.includes('Moved to Done'), button(done.html)]).toEqual([true, ['todo:2', 'true']]);
    expect(done.html).toContain('1 of 1 done');
    expect((await move('done:1')).html).toContain('The task has changed since you opened the page');
    await undo(done.html);
    expect(await row(child.task_id)).toMatchObject({ status: 'todo', version: 3 });
    await move('done:3');
    expect(button((await move('todo:4')).html)).toEqual(['done:5', 'false']);
    const guest = (await (await signIn(app, team.guest)).get(path)).html;
    expect([guest.includes('Child'), button(guest), picks(guest)]).toEqual([true, undefined, []]);
  });
});
