import { filtersOf } from '../../../api/work/saved-views/rules.js';
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

it('saves a view, shows it as a list, and makes it the default', async () => {
  const project = await buildProject(app, team);
  await buildTask(app, team, project, { title: 'Shown', priority: 'urgent' });
  await buildTask(app, team, project, { title: 'Filtered', priority: 'low' });
  expect((await browser.get('/app/views')).html).toContain('No views yet.');
  const form = {
    name: 'Urgent',
    entity_type: 'task',
    team_id: team.team_id,
    is_shared: 'yes',
    priority: ['urgent', 'high'],
    layout: 'list',
    sort: 'due_date',
    direction: 'desc',
  };
  const saved = await follow('/app/views', form);
  expect([saved.html.includes('View saved'), saved.html.includes('Shown'), saved.html.includes('Filtered')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(saved.html).toContain('Tasks · priority urgent or high · by due date, latest first');
  const [view] = await db()('saved_views').where({ owner_id: team.member.user_id });
  expect(view).toMatchObject({
    is_shared: true,
    filters: { priority: ['urgent', 'high'] },
    sort: [{ field: 'due_date', direction: 'desc' }],
  });
  expect((await follow(`/app/views/${view.view_id}/default`, {}, '/app/views')).html).toContain('Urgent is your default.');
  const guest = await signIn(app, team.guest);
  const theirs = await guest.get('/app/views');
  expect([theirs.html.includes('Urgent'), theirs.html.includes('Delete view'), theirs.html.includes('New view')]).toEqual([
    true,
    false,
    false,
  ]);
  const seen = (await guest.get(`/app/views/${view.view_id}`)).html;
  expect([seen.includes('Shown'), seen.includes('shared by')]).toEqual([true, true]);
  const stranger = await signIn(app, (await givenStranger()).admin);
  expect((await stranger.get(`/app/views/${view.view_id}`)).status).toBe(404);
  const wrong = await follow('/app/views', { ...form, entity_type: 'project' });
  expect([wrong.status, wrong.html.includes('is no filter of a view')]).toEqual([422, true]);
  expect((await follow(`/app/views/${view.view_id}/delete`, {}, '/app/views')).html).toContain('The view was deleted.');
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
  expect(await shown('/app/views/mine?edited=yes&status=done&assigned_to=me&layout=list')).toEqual(['My past']);
  const copy = { name: 'A copy', status: 'todo', assigned_to: 'me', layout: 'list', sort: 'due_date', direction: 'asc' };
  expect((await follow('/app/views/mine/copy', copy, '/app/views/mine')).html).toContain('View saved');
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
  const fields = { name: 'Dates', entity_type: 'task', team_id: team.team_id, layout: 'list', sort: 'title', direction: 'asc' };
  const { html } = await follow('/app/views', fields);
  const marked = html.split('<li').filter((row) => row.includes('class="chip due late"'));
  expect(marked).toHaveLength(1);
  expect(marked[0]).toMatch(/>Late<.*overdue, <\/span>3 Feb/s);
});

it('offers every filter of the API, and shows a refused form again', async () => {
  const project = await buildProject(app, team);
  const page = await browser.get('/app/views');
  for (const id of [project.project_id, team.admin.user_id]) expect(page.html).toContain(`<option value="${id}">`);
  const form = {
    name: 'Everything',
    entity_type: 'task',
    team_id: team.team_id,
    layout: 'list',
    q: 'words',
    status: 'todo',
    priority: ['urgent', 'high'],
    assigned_to: [team.admin.user_id, team.member.user_id],
    created_by: 'me',
    cycle_id: 'none',
    stage_id: 'none',
    project_id: project.project_id,
    tags: ' backend , api,',
    due: 'next_7',
    due_after: '2026-01-01',
    due_before: '2027-01-01',
    custom_fields: 'severity = high\r\nseverity=a=b\n\nweight= 5',
  };
  expect((await follow('/app/views', form)).html).toContain('View saved');
  const [{ filters }] = await db()('saved_views').where({ owner_id: team.member.user_id });
  expect(filters).toEqual({
    q: 'words',
    status: ['todo'],
    priority: ['urgent', 'high'],
    assigned_to: [team.admin.user_id, team.member.user_id],
    created_by: ['me'],
    cycle_id: ['none'],
    stage_id: ['none'],
    project_id: [project.project_id],
    tags: ['backend', 'api'],
    due: 'next_7',
    due_after: '2026-01-01',
    due_before: '2027-01-01',
    custom_fields: { severity: ['high', 'a=b'], weight: ['5'] },
  });
  const plain = filtersOf('task').filter((name) => !name.startsWith('not_'));
  expect(Object.keys(filters).toSorted()).toEqual(plain.toSorted());
  const not = plain.filter((name) => filtersOf('task').includes(`not_${name}`));
  expect((await follow('/app/views', { ...form, name: 'Opposite', not })).html).toContain('View saved');
  const [{ filters: opposite }] = await db()('saved_views').where({ owner_id: team.member.user_id, name: 'Opposite' });
  expect(opposite).toEqual(Object.fromEntries(plain.map((name) => [not.includes(name) ? `not_${name}` : name, filters[name]])));
  const refused = await follow('/app/views', { ...form, custom_fields: 'severity' });
  expect([refused.status, refused.html.includes('lines of a key, = and a value')]).toEqual([422, true]);
  expect(refused.html).toContain(`<option value="${project.project_id}" selected>`);
  const wide = await follow('/app/views', { ...form, entity_type: 'project' });
  expect([wide.status, wide.html.includes('is no filter of a view')]).toEqual([422, true]);
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

describe('the form on the page of a view', () => {
  const stored = {
    name: 'Mine',
    entity_type: 'task',
    layout: 'list',
    filters: { priority: ['high'], tags: ['a,b', 'c'], custom_fields: { weight: [5] } },
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
  /** What a browser sends of the form as it stands on a page. */
  const formOf = (html: string): Record<string, string | string[]> => {
    const form = /<form method="get" action="\/app\/views\/[^>]*>.*?<\/form>/s.exec(html)?.[0] ?? '';
    const pairs: [string, string][] = [];
    for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
      const [name, value] = [/ name="([^"]*)"/.exec(tag)?.[1], / value="([^"]*)"/.exec(tag)?.[1] ?? ''];
      if (name && (!tag.includes('checkbox') || / checked/.test(tag))) pairs.push([name, value]);
    }
    for (const [, start = '', options = ''] of form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
      const chosen = [...options.matchAll(/value="([^"]*)" selected/g)].map(([, value = '']) => value);
      const first = start.includes(' multiple') ? [] : [/value="([^"]*)"/.exec(options)?.[1] ?? ''];
      for (const value of chosen.length > 0 ? chosen : first) pairs.push([/name="([^"]*)"/.exec(start)?.[1] ?? '', value]);
    }
    const [, text = ''] = /<textarea[^>]*name="custom_fields"[^>]*>\n(.*?)<\/textarea>/s.exec(form) ?? [];
    pairs.push(['custom_fields', text]);
    const fields: Record<string, string | string[]> = {};
    for (const [name, value] of pairs) fields[name] = name in fields ? [fields[name] as string, value].flat() : value;
    return fields;
  };
  const query = (form: Record<string, string | string[]>) =>
    new URLSearchParams(
      Object.entries(form).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
    ).toString();

  it('saves name, filters, order and columns, and keeps what it cannot write', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const page = await browser.get(path);
    expect([page.html.includes('Save to this view'), page.html.includes('Save as new view')]).toEqual([true, true]);
    const form = formOf(page.html);
    expect(form).toMatchObject({ name: 'Mine', priority: 'high', tags: 'a,b, c', sort: 'due_date', direction: 'desc' });
    expect(form['columns']).toEqual(['priority', 'due_date', 'assigned_to', 'tags', 'estimate', 'custom_field:weight']);
    const before = await row(view_id);
    expect((await follow(path, form)).html).toContain('View saved');
    expect(await row(view_id)).toEqual(before);
    const changed = {
      ...form,
      name: 'Ours',
      priority: ['high', 'urgent'],
      sort: 'priority',
      columns: ['tags'],
      is_shared: 'yes',
    };
    expect((await follow(path, changed)).html).toContain('View saved');
    expect(await row(view_id)).toMatchObject({
      name: 'Ours',
      is_shared: true,
      filters: { ...stored.filters, priority: ['high', 'urgent'] },
      sort: [
        { field: 'priority', direction: 'desc' },
        { field: 'title', direction: 'asc' },
      ],
      columns: ['tags'],
    });
    const entries = await db()('audit_entries').where({ entity_id: view_id, action: 'update' });
    expect(entries).toHaveLength(1);
  });

  it('shows changed filters without saving them, and offers both ways to save', async () => {
    const project = await buildProject(app, team);
    await buildTask(app, team, project, { title: 'Urgent one', priority: 'urgent' });
    await buildTask(app, team, project, { title: 'High one', priority: 'high' });
    const view_id = await create({ filters: { priority: ['high'] }, sort: [] });
    const path = `/app/views/${view_id}`;
    const first = await browser.get(path);
    expect([first.html.includes('High one'), first.html.includes('Urgent one')]).toEqual([true, false]);
    const form: Record<string, string | string[]> = { ...formOf(first.html), priority: 'urgent' };
    const shown = await browser.get(`${path}?${query(form)}`);
    expect([shown.html.includes('High one'), shown.html.includes('Urgent one')]).toEqual([false, true]);
    expect(shown.html).toContain('Discard changes');
    expect((await row(view_id)).filters).toEqual({ priority: ['high'] });
    const copy = await browser.post(`${path}/copy`, { ...formOf(shown.html), name: 'Copy' }, { from: path });
    const copied = (copy.headers.get('location') as string).slice('/app/views/'.length);
    expect([copied === view_id, await row(copied)]).toEqual([
      false,
      expect.objectContaining({ name: 'Copy', team_id: team.team_id, filters: { priority: ['urgent'] } }),
    ]);
    const none = { ...formOf(shown.html), priority: [] };
    expect((await follow(path, none)).html).toContain('View saved');
    expect((await row(view_id)).filters).toEqual({});
    const bad = await browser.get(`${path}?${query({ ...form, custom_fields: 'nonsense' })}`);
    expect([bad.status, bad.html.includes('lines of a key, = and a value'), bad.html.includes('High one')]).toEqual([
      422,
      true,
      true,
    ]);
  });

  it('has the limits of the API', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const form = formOf((await browser.get(path)).html);
    const many = Array.from({ length: 51 }, (_, at) => `t${at}`);
    for (const wrong of [
      { tags: many.join(',') },
      { columns: many },
      { columns: ['x'.repeat(81)] },
      { sort: 'nonsense' },
      { status: 'nonsense' },
      { due_after: 'nonsense' },
      { name: ' ' },
    ]) {
      expect([wrong, (await browser.post(path, { ...form, ...wrong })).status]).toEqual([wrong, 422]);
      expect([wrong, (await browser.post(`${path}/copy`, { ...form, ...wrong }, { from: path })).status]).toEqual([wrong, 422]);
      const status = 'name' in wrong ? 200 : 422;
      expect([wrong, (await browser.get(`${path}?${query({ ...form, ...wrong })}`)).status]).toEqual([wrong, status]);
    }
    const created = await browser.post('/app/views', { name: 'Many', entity_type: 'task', layout: 'list', tags: many.join(',') });
    expect(created.status).toBe(422);
    expect(await db()('saved_views').where({ owner_id: team.member.user_id })).toHaveLength(1);
  });

  it('refuses what has changed meanwhile, and keeps what was typed', async () => {
    const view_id = await create();
    const path = `/app/views/${view_id}`;
    const form = formOf((await browser.get(path)).html);
    await app.as(team.member).patch(`/api/saved-views/${view_id}`, { name: 'Elsewhere' });
    const refused = await browser.post(path, { ...form, name: 'Typed' });
    expect([
      refused.status,
      refused.html.includes('has changed since you opened it'),
      refused.html.includes('value="Typed"'),
    ]).toEqual([409, true, true]);
    expect((await row(view_id)).name).toBe('Elsewhere');
    expect((await follow(path, formOf(refused.html))).html).toContain('View saved');
    expect((await row(view_id)).name).toBe('Typed');
  });

  it('is for its owner alone; members may copy a shared view, guests and strangers not', async () => {
    const view_id = await create({ is_shared: true });
    const path = `/app/views/${view_id}`;
    const form = formOf((await browser.get(path)).html);
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
