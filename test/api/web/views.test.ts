import { filtersOf } from '../../../api/work/saved-views/rules.js';
import { createField } from '../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The pages of saved views, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
const db = () => app.services.db;
const follow = async (path: string, form: Record<string, string | string[]>, from = path) => {
  const answer = await browser.post(path, form, { from });
  return answer.status === 303 ? browser.get(answer.headers.get('location') as string) : answer;
};

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

/** The labels of the chips of a page. */
const chipsOf = (html: string): string[] => [...html.matchAll(/class="chip"><bdi>([^<]+)</g)].map(([, label = '']) => label);

it('saves a new view from its bar, shows it as a list, and makes it the default', async () => {
  const project = await buildProject(app, team);
  await buildTask(app, team, project, { title: 'Shown', priority: 'urgent' });
  await buildTask(app, team, project, { title: 'Filtered', priority: 'low' });
  const list = (await browser.get('/app/views')).html;
  expect([list.includes('No views yet.'), list.includes('href="/app/views/new"')]).toEqual([true, true]);
  const query = `edited=yes&team=${team.team_id}&show=all&priority=urgent&priority=high&sort=due_date&reversed=yes`;
  const before = (await browser.get(`/app/views/new?${query}`)).html;
  expect([before.includes('Shown'), before.includes('Filtered')]).toEqual([true, false]);
  expect(chipsOf(before)).toEqual(['All tasks', 'Priority urgent or high']);
  const saved = await follow(`/app/views/new/copy?${query}`, { name: 'Urgent', is_shared: 'yes' }, '/app/views/new');
  expect([saved.html.includes('View saved'), saved.html.includes('Shown'), saved.html.includes('Filtered')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(saved.html).toContain('<option value="due_date" selected>By due date, latest first</option>');
  const [view] = await db()('saved_views').where({ owner_id: team.member.user_id });
  expect(view).toMatchObject({
    is_shared: true,
    filters: { priority: ['urgent', 'high'] },
    sort: [{ field: 'due_date', direction: 'desc' }],
  });
  const made = await follow(`/app/views/${view.view_id}/default`, {}, '/app/views');
  expect(made.html).toContain('Views opens “Urgent” from now on');
  expect(made.html).toMatch(/>Urgent<.*<span class="chip">opens first<\/span>/s);
  const guest = await signIn(app, team.guest);
  const theirs = await guest.get('/app/views');
  expect([
    theirs.html.includes('Urgent'),
    theirs.html.includes('Delete view'),
    theirs.html.includes('href="/app/views/new"'),
  ]).toEqual([true, false, false]);
  const seen = (await guest.get(`/app/views/${view.view_id}`)).html;
  expect([seen.includes('Shown'), seen.includes('shared by')]).toEqual([true, true]);
  const stranger = await signIn(app, (await givenStranger()).admin);
  expect((await stranger.get(`/app/views/${view.view_id}`)).status).toBe(404);
  expect((await follow(`/app/views/${view.view_id}/delete`, {}, '/app/views/new')).html).toContain('The view was deleted.');
  expect((await browser.get('/app/views')).status).toBe(200);
});

it('Views opens the default, of tasks before others, and the list is one link away', async () => {
  const create = async (name: string, entity_type: string) =>
    (await app.as(team.member).post('/api/saved-views', { name, entity_type, team_id: team.team_id })).body.view_id as string;
  const [plans, tasks] = [await create('Plans', 'project'), await create('Work', 'task')];
  const opens = async () => {
    const { status, headers } = await browser.get('/app/views');
    return [status, headers.get('location')];
  };
  expect(await opens()).toEqual([200, null]);
  await browser.post(`/app/views/${plans}/default`, {}, { from: '/app/views/new' });
  expect(await opens()).toEqual([303, `/app/views/${plans}`]);
  await browser.post(`/app/views/${tasks}/default`, {}, { from: '/app/views/new' });
  expect(await opens()).toEqual([303, `/app/views/${tasks}`]);
  const again = await follow(`/app/views/${plans}/default`, {}, '/app/views/new');
  expect(again.html).toContain('“Plans” is your default of projects. Views opens “Work”, that of tasks.');
  const { html } = await browser.get(`/app/views/${tasks}`);
  expect(html).toContain('<p class="crumbs"><a href="/app/views?all=yes">Views</a>');
  const list = (await browser.get('/app/views?all=yes')).html;
  expect([...list.matchAll(/<span class="chip">([^<]+)</g)].map(([, text]) => text)).toEqual(['default', 'opens first']);
  // A default is its owner's alone.
  await app.as(team.member).patch(`/api/saved-views/${tasks}`, { is_shared: true });
  expect((await (await signIn(app, team.admin)).get('/app/views')).status).toBe(200);
});

it('names the project of each task where these are of several, with a link', async () => {
  const [pier, crane] = [await buildProject(app, team, { name: 'Pier <b>' }), await buildProject(app, team, { name: 'Crane' })];
  await buildTask(app, team, pier, { title: 'Paint' });
  const named = async (query = '') => {
    const { html } = await browser.get(`/app/views/open-${team.team_id}${query}`);
    return [...html.matchAll(/<a class="in-project" href="([^"]+)"[^>]*>([^<]+)</g)].map(([, href, name]) => [href, name]);
  };
  expect(await named()).toEqual([]);
  await buildTask(app, team, crane, { title: 'Lift' });
  expect(await named('?sort=title')).toEqual([
    [`/app/projects/${crane.project_id}`, 'Crane'],
    [`/app/projects/${pier.project_id}`, 'Pier &lt;b&gt;'],
  ]);
  expect(await named(`?project_id=${crane.project_id}`)).toEqual([]);
  expect(await named('?group=project_id')).toEqual([]);
  expect(await named('?columns=priority')).toEqual([]);
  expect(await named('?columns=priority&columns=project_id')).toHaveLength(2);
});

it('begins with views that everyone has, which nobody changes and everyone may copy', async () => {
  const project = await buildProject(app, team);
  await buildTask(app, team, project, { title: 'Theirs' });
  await buildTask(app, team, project, { title: 'My own', assigned_to: team.member.user_id });
  await buildTask(app, team, project, { title: 'My past', assigned_to: team.member.user_id, status: 'done' });
  const open = `/app/views/open-${team.team_id}`;
  const list = (await browser.get('/app/views')).html;
  for (const path of ['/app/views/mine', open]) expect(list).toContain(`href="${path}"`);
  const shown = async (path: string) => {
    const { html } = await browser.get(path);
    return ['Theirs', 'My own', 'My past', 'Save to this view'].filter((text) => html.includes(text));
  };
  expect(await shown('/app/views/mine')).toEqual(['My own']);
  expect(await shown(open)).toEqual(['Theirs', 'My own']);
  expect(await shown('/app/views/mine?show=done&assigned_to=me')).toEqual(['My past']);
  const copy = { name: 'A copy' };
  expect((await follow('/app/views/mine/copy?show=todo&assigned_to=me', copy, '/app/views/mine')).html).toContain('View saved');
  expect((await db()('saved_views').where({ owner_id: team.member.user_id }).first()).filters).toMatchObject({
    assigned_to: ['me'],
  });
  expect((await browser.post('/app/views/mine', { ...copy, updated_at: '' }, { from: '/app/views' })).status).toBe(404);
  const other = await givenStranger();
  expect((await browser.get(`/app/views/open-${other.team_id}`)).status).toBe(404);
  const guest = await signIn(app, team.guest);
  expect((await guest.get(open)).html).toContain('Theirs');
});

it('an overdue date of an open task is marked in a row', async () => {
  const project = await buildProject(app, team);
  await buildTask(app, team, project, { title: 'Late', due_date: '2020-02-03' });
  await buildTask(app, team, project, { title: 'Over', due_date: '2020-02-03', status: 'done' });
  await buildTask(app, team, project, { title: 'Early', due_date: '2120-02-03' });
  const { html } = await browser.get(`/app/views/new?team=${team.team_id}&show=all&sort=title`);
  const marked = html.split('<li').filter((row) => row.includes('class="chip due late"'));
  expect(marked).toHaveLength(1);
  expect(marked[0]).toMatch(/>Late<.*overdue, <\/span>3 Feb/s);
});

it('the bar has every filter of the API, and says what it has', async () => {
  const project = await buildProject(app, team, { name: 'Pier' });
  const stage = (await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name: 'Weld', status: 'todo' })).body;
  await createField(app, team, 'select', { name: 'Severity', options: [{ value: 'high', label: 'High' }, { value: 'a=b' }] });
  const page = (await browser.get('/app/views/new')).html;
  for (const [name, value] of [
    ['project_id', project.project_id],
    ['assigned_to', team.admin.user_id],
    ['stage_id', stage.stage_id],
    ['cf_severity', 'high'],
  ]) {
    expect(page).toContain(`type="checkbox" name="${name}" value="${value}"`);
  }
  const fields: Record<string, string[]> = {
    q: ['words'],
    show: ['todo'],
    priority: ['urgent', 'high'],
    assigned_to: [team.admin.user_id, team.member.user_id],
    created_by: ['me'],
    cycle_id: ['none'],
    stage_id: ['none', stage.stage_id],
    project_id: [project.project_id],
    tag: ['backend', 'a,b'],
    due: ['next_7'],
    due_after: ['2026-01-01'],
    due_before: ['2027-01-01'],
    cf_severity: ['high', 'a=b'],
    cf_weight: ['5'],
  };
  const pairs = Object.entries(fields).flatMap(([name, values]) => values.map((value) => [name, value] as [string, string]));
  const query = String(new URLSearchParams(pairs));
  expect((await follow(`/app/views/new/copy?${query}`, { name: 'Everything' }, '/app/views/new')).html).toContain('View saved');
  const [{ filters, view_id }] = await db()('saved_views').where({ owner_id: team.member.user_id });
  expect(filters).toEqual({
    q: 'words',
    status: ['todo'],
    priority: ['urgent', 'high'],
    assigned_to: [team.admin.user_id, team.member.user_id],
    created_by: ['me'],
    cycle_id: ['none'],
    stage_id: ['none', stage.stage_id],
    project_id: [project.project_id],
    tags: ['backend', 'a,b'],
    due: 'next_7',
    due_after: '2026-01-01',
    due_before: '2027-01-01',
    custom_fields: { severity: ['high', 'a=b'], weight: ['5'] },
  });
  expect(chipsOf((await browser.get(`/app/views/${view_id}`)).html)).toEqual([
    '“words”',
    'To do',
    expect.stringMatching(/^Assigned to .+ or You$/),
    'Priority urgent or high',
    'Stage: no stage or Weld',
    'In Pier',
    'Created by me',
    'In no cycle',
    '#backend or #a,b',
    'Due in the next 7 days',
    'Due after 1 Jan',
    'Due before 1 Jan',
    'weight is 5',
    'Severity is High or a=b',
  ]);
  const plain = filtersOf('task').filter((name) => !name.startsWith('not_'));
  expect(Object.keys(filters).toSorted()).toEqual(plain.toSorted());
  const not = plain.filter((name) => filtersOf('task').includes(`not_${name}`));
  const out = ['show', 'tag', 'cf_severity', 'cf_weight', ...not].map((name) => `not=${name}`).join('&');
  expect((await follow(`/app/views/new/copy?${query}&${out}`, { name: 'Opposite' }, '/app/views/new')).html).toContain(
    'View saved',
  );
  const [opposite] = await db()('saved_views').where({ owner_id: team.member.user_id, name: 'Opposite' });
  expect(opposite.filters).toEqual(
    Object.fromEntries(plain.map((name) => [not.includes(name) ? `not_${name}` : name, filters[name]])),
  );
  const chips = chipsOf((await browser.get(`/app/views/${opposite.view_id}`)).html);
  expect(chips).toEqual(expect.arrayContaining(['Not in Pier', 'Severity is not High or a=b', 'Stage not: no stage or Weld']));
});

it('a view of projects or of work items has the filters of its own', async () => {
  const project = await buildProject(app, team, { name: 'Pier' });
  await createField(app, team, 'select', { name: 'Risk', entity_type: 'project', options: [{ value: 'low' }] });
  const names = (html: string) => [...new Set([...html.matchAll(/type="checkbox" name="([a-z_]+)"/g)].map(([, name]) => name))];
  const projects = (await browser.get(`/app/views/new-projects?team=${team.team_id}&show=active&due=overdue&priority=high`)).html;
  expect(names(projects)).toEqual(['not', 'show', 'project_id', 'cf_risk', 'columns', 'is_shared']);
  expect(projects).toContain('>Pier<');
  const query = `show=active&show=todo&project_id=${project.project_id}&cf_risk=low`;
  await browser.post(`/app/views/new-projects/copy?${query}`, { name: 'Risky' }, { from: '/app/views/new-projects' });
  expect(await db()('saved_views').where({ owner_id: team.member.user_id }).first()).toMatchObject({
    entity_type: 'project',
    filters: { status: ['active'], project_id: [project.project_id], custom_fields: { risk: ['low'] } },
  });
  expect(names((await browser.get('/app/views/new-items')).html)).toEqual(['not', 'show', 'project_id', 'columns']);
});

async function givenStranger(): Promise<TestTeam> {
  const other = await buildTeam(app);
  await givePasswords(app);
  return other;
}

it('shows a board with a column for each status, and moves a task by a form', async () => {
  const project = await buildProject(app, team);
  const task = await buildTask(app, team, project, { title: 'Movable' });
  const made = await app
    .as(team.member)
    .post('/api/saved-views', { name: 'Board', entity_type: 'task', layout: 'board', team_id: team.team_id, is_shared: true });
  const path = `/app/views/${made.body.view_id}`;
  const { html } = await browser.get(path);
  expect([...html.matchAll(/data-status="(\w+)"/g)].map(([, status]) => status)).toEqual([
    'todo',
    'in_progress',
    'in_review',
    'done',
  ]);
  const move = (to: string) => follow('/app/tasks/move', { to: `${to}:1:${task.task_id}`, back: path }, path);
  expect(html).toContain(`name="to" value="in_progress:1:${task.task_id}"`);
  expect((await move('in_review')).html).toContain('Moved to In review');
  expect(await db()('tasks').where({ task_id: task.task_id }).first('status')).toEqual({ status: 'in_review' });
  // Another user was faster.
  expect((await move('done')).html).toContain('The task has changed since you opened the page');
  const guest = await (await signIn(app, team.guest)).get(path);
  expect([guest.html.includes('Movable'), guest.html.includes('data-task')]).toEqual([true, false]);
});

describe('the bar of a view', () => {
  const stored = {
    name: 'Mine',
    entity_type: 'task',
    layout: 'list',
    filters: { priority: ['high'], tags: ['a,b', 'c'], due_before: '2027-01-01T10:00:00.000Z', custom_fields: { weight: [5] } },
    sort: [
      { field: 'due_date', direction: 'desc' },
      { field: 'title', direction: 'asc' },
    ],
    columns: ['custom_field:weight'],
  };
  const create = async (fields: Record<string, unknown> = {}) => {
    const { body } = await app.as(team.member).post('/api/saved-views', { ...stored, team_id: team.team_id, ...fields });
    return body.view_id as string;
  };
  const row = (view_id: string) => db()('saved_views').where({ view_id }).first();
  /** What a browser sends of the bar as it stands on a page. */
  const barOf = (html: string): URLSearchParams => {
    const form = /<form method="get" action="\/app\/views\/[^>]*>.*?<\/form>/s.exec(html)?.[0] ?? '';
    const bar = new URLSearchParams();
    const add = (name: string | undefined, value = '') => name && value !== '' && bar.append(name, value);
    for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
      if (!tag.includes('checkbox') || / checked/.test(tag))
        add(/ name="([^"]*)"/.exec(tag)?.[1], / value="([^"]*)"/.exec(tag)?.[1]);
    }
    for (const [, name, options = ''] of form.matchAll(/<select[^>]*name="([^"]*)">(.*?)<\/select>/gs)) {
      add(name, /value="([^"]*)" selected/.exec(options)?.[1]);
    }
    return bar;
  };
  /** What the form beside the chips sends to save. */
  const savingOf = (html: string) => ({
    name: / name="name" value="([^"]*)"/.exec(html)?.[1] ?? 'Mine',
    updated_at: / name="updated_at" value="([^"]*)"/.exec(html)?.[1] ?? '',
  });
  const changed = (html: string, changes: Record<string, string | string[]>): string => {
    const bar = barOf(html);
    for (const [name, values] of Object.entries(changes)) {
      bar.delete(name);
      for (const value of [values].flat()) bar.append(name, value);
    }
    return `?${String(bar)}`;
  };

  it('says nothing new as it stands, and what is saved from it keeps what it cannot say', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const { html } = await browser.get(path);
    expect(['Save to this view', '>Reset to the saved view<'].map((text) => html.includes(text))).toEqual([false, false]);
    expect(barOf(html).getAll('tag')).toEqual(['a,b', 'c']);
    const same = (await browser.get(`${path}${changed(html, {})}`)).html;
    expect(['Save to this view', '>Reset to the saved view<'].map((text) => same.includes(text))).toEqual([false, false]);
    const before = await row(view_id);
    expect((await follow(`${path}${changed(html, {})}`, savingOf(html), path)).html).toContain('View saved');
    expect(await row(view_id)).toEqual(before);
    const query = changed(html, { priority: ['high', 'urgent'], sort: 'priority', reversed: [], columns: ['tags'] });
    const shown = (await browser.get(`${path}${query}`)).html;
    expect(['Save to this view', 'Save as new view', '>Reset to the saved view<'].map((text) => shown.includes(text))).toEqual([
      true,
      true,
      true,
    ]);
    expect((await row(view_id)).filters).toEqual(stored.filters);
    expect((await follow(`${path}${query}`, savingOf(shown), path)).html).toContain('View saved');
    expect(await row(view_id)).toMatchObject({
      name: 'Mine',
      is_shared: false,
      filters: { ...stored.filters, priority: ['high', 'urgent'] },
      sort: [
        { field: 'priority', direction: 'desc' },
        { field: 'title', direction: 'asc' },
      ],
      columns: ['tags'],
    });
    expect(await db()('audit_entries').where({ entity_id: view_id, action: 'update' })).toHaveLength(1);
  });

  it('can say that a view has no filter, and leaves groups and columns of a board alone', async () => {
    const view_id = await create({ layout: 'board', group_by: 'assigned_to' });
    const path = `/app/views/${view_id}`;
    const { html } = await browser.get(path);
    expect((await browser.get(`${path}${changed(html, {})}`)).html).not.toContain('Save to this view');
    const none = new URLSearchParams([...barOf(html)].filter(([name]) => ['edited', 'layout', 'team'].includes(name)));
    await browser.post(`${path}?${String(none)}&show=all`, savingOf(html), { from: path });
    expect(await row(view_id)).toMatchObject({ filters: {}, sort: [], group_by: 'assigned_to', columns: stored.columns });
    await browser.post(`${path}?edited=yes`, savingOf((await browser.get(path)).html), { from: path });
    expect(await row(view_id)).toMatchObject({ filters: { status: ['todo', 'in_progress', 'in_review'] }, team_id: null });
  });

  it('shows changed filters without saving them, and saves them as a view of their own', async () => {
    const project = await buildProject(app, team);
    await buildTask(app, team, project, { title: 'Urgent one', priority: 'urgent' });
    await buildTask(app, team, project, { title: 'High one', priority: 'high' });
    const view_id = await create({ filters: { priority: ['high'] }, sort: [] });
    const path = `/app/views/${view_id}`;
    const first = await browser.get(path);
    expect([first.html.includes('High one'), first.html.includes('Urgent one')]).toEqual([true, false]);
    const query = changed(first.html, { priority: 'urgent' });
    const shown = await browser.get(`${path}${query}`);
    expect([shown.html.includes('High one'), shown.html.includes('Urgent one')]).toEqual([false, true]);
    const copy = await browser.post(`${path}/copy${query}`, { name: 'Copy' }, { from: path });
    const copied = (copy.headers.get('location') as string).slice('/app/views/'.length);
    expect([copied === view_id, await row(copied)]).toEqual([
      false,
      expect.objectContaining({ name: 'Copy', team_id: team.team_id, filters: { priority: ['urgent'] } }),
    ]);
    expect((await row(view_id)).filters).toEqual({ priority: ['high'] });
  });

  it('is renamed and shared without its bar', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const { html } = await browser.get(path);
    expect((await follow(path, { ...savingOf(html), name: 'Ours', is_shared: 'yes' })).html).toContain('View saved');
    expect(await row(view_id)).toMatchObject({ name: 'Ours', is_shared: true, filters: stored.filters });
    const alone = await browser.post(
      `${path}${changed(html, { team: [] })}`,
      { ...savingOf((await browser.get(path)).html), is_shared: 'yes' },
      { from: path },
    );
    expect([alone.status, alone.html.includes('A shared view needs')]).toEqual([400, true]);
  });

  it('takes no more than the API, and passes over nonsense', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const { html } = await browser.get(path);
    const many = Array.from({ length: 60 }, (_, at) => `t${at}`);
    for (const wrong of [{ sort: 'nonsense' }, { group: 'title' }, { columns: many }]) {
      const query = changed(html, wrong as Record<string, string | string[]>);
      expect([wrong, (await browser.get(`${path}${query}`)).status]).toEqual([wrong, 422]);
      expect([wrong, (await browser.post(`${path}${query}`, savingOf(html), { from: path })).status]).toEqual([wrong, 422]);
      expect([wrong, (await browser.post(`${path}/copy${query}`, { name: 'x' }, { from: path })).status]).toEqual([wrong, 422]);
    }
    for (const passed of [
      { show: 'nonsense' },
      { due_after: 'nonsense' },
      { team: 'nonsense' },
      { layout: 'nonsense' },
      { project_id: 'nonsense' },
      { cf_weight: ['x'.repeat(2_001), 'with\u0000'] },
      { cf___proto__: 'x', cf_: 'y', not: 'cf___proto__' },
      { tag: many, cf_weight: many, cf_other: many },
    ]) {
      const { status } = await browser.get(`${path}${changed(html, passed as Record<string, string | string[]>)}`);
      expect([passed, status]).toEqual([passed, 200]);
    }
    expect((await browser.post(`${path}/copy`, { name: ' ' }, { from: path })).status).toBe(422);
    expect(await db()('saved_views').where({ owner_id: team.member.user_id })).toHaveLength(1);
  });

  it('refuses what has changed meanwhile, and keeps what was typed and chosen', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const { html } = await browser.get(path);
    const query = changed(html, { priority: 'low' });
    await app.as(team.member).patch(`/api/saved-views/${view_id}`, { name: 'Elsewhere' });
    const bar = await browser.post(`${path}${query}`, savingOf(html), { from: path });
    expect([
      bar.status,
      bar.html.includes('has changed since you opened it'),
      chipsOf(bar.html).includes('Priority low'),
    ]).toEqual([409, true, true]);
    const refused = await browser.post(path, { ...savingOf(html), name: 'Typed' });
    expect([refused.status, refused.html.includes('value="Typed"')]).toEqual([409, true]);
    expect((await row(view_id)).name).toBe('Elsewhere');
    expect((await follow(`${path}${query}`, savingOf(bar.html), path)).html).toContain('View saved');
    expect(await row(view_id)).toMatchObject({ name: 'Elsewhere', filters: { priority: ['low'] } });
  });

  it('is for its owner alone; members may copy a shared view, guests and strangers not', async () => {
    const view_id = await create({ is_shared: true });
    const path = `/app/views/${view_id}`;
    const form = savingOf((await browser.get(path)).html);
    const admin = await signIn(app, team.admin);
    const theirs = (await admin.get(path)).html;
    expect([theirs.includes('Save to this view'), theirs.includes('Save as new view')]).toEqual([false, true]);
    expect((await admin.post(path, { ...form, name: 'Taken' })).status).toBe(403);
    expect((await admin.post(`${path}/copy`, { ...form, name: 'Copied' }, { from: path })).status).toBe(303);
    const guest = await signIn(app, team.guest);
    expect((await guest.get(path)).html).not.toContain('Save as new view');
    expect((await guest.post(`${path}/copy`, form, { from: '/app' })).status).toBe(403);
    const stranger = await signIn(app, (await givenStranger()).admin);
    for (const to of [path, `${path}/copy`]) expect((await stranger.post(to, form, { from: '/app' })).status).toBe(404);
    expect((await row(view_id)).name).toBe('Mine');
    expect(await db()('saved_views').where({ team_id: team.team_id })).toHaveLength(2);
  });
});
