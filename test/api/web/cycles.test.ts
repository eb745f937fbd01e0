import { createCycle, insertTasks } from '../work/cycles/support.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The pages of cycles, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;
const cycleRow = (cycle_id: string) => app.services.db('cycles').where({ cycle_id }).first();
const taskRow = (task_id = '') => app.services.db('tasks').where({ task_id }).first();

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

it('plans a cycle, fills it from the backlog, starts it, shows its burn-down and completes it', async () => {
  const [first = '', second = ''] = await insertTasks(app, team, project, [{ title: 'First' }, { title: 'Second' }]);
  expect((await browser.get('/app/cycles')).html).toContain('No cycles yet.');
  const fields = {
    team_id: team.team_id,
    project_id: project.project_id,
    name: 'Cycle 1',
    goal: 'Ship it',
    start_date: '',
    end_date: '2099-01-01',
  };
  const planned = await browser.post('/app/cycles', { ...fields, auto_complete: 'true' });
  const path = planned.headers.get('location') as string;
  const cycle_id = path.slice('/app/cycles/'.length);
  expect(await cycleRow(cycle_id)).toMatchObject({
    name: 'Cycle 1',
    start_date: null,
    end_date: '2099-01-01',
    auto_complete: true,
  });
  const post = (name: string, given: Record<string, string> = {}) => browser.post(`${path}/${name}`, given, { from: path });
  expect((await browser.get(path)).html).toContain(`value="${second}"`);
  expect((await post('tasks')).status).toBe(303);
  await post('tasks', { task_ids: first });
  await post('tasks', { task_ids: second });
  expect([(await taskRow(first)).cycle_id, (await taskRow(second)).cycle_id]).toEqual([cycle_id, cycle_id]);
  await post('start');
  const next = await createCycle(app.as(team.member), { ...project, name: 'Cycle 2' });
  await app.as(team.member).patch(`/api/tasks/${first}/status`, { status: 'done' });
  const active = (await browser.get(path)).html;
  expect(active).toContain('On the last of 1 days 1 of the tasks were open');
  expect(active).toContain(`<option value="${next.cycle_id}">Cycle 2</option>`);
  expect(active).toContain('1 open task moves on. The figures are frozen; this cannot be undone.');
  const task = (await browser.get(`/app/items/${second}`)).html;
  const link = `href="${path}">Show<span class="unseen"> Cycle 1</span></a>`;
  expect([task.includes(link), task.includes('changed cycle ')]).toEqual([true, true]);
  await post('complete', { rollover_to: next.cycle_id });
  expect((await taskRow(second)).cycle_id).toBe(next.cycle_id);
  const list = (await browser.get('/app/cycles')).html;
  expect([list.includes('1 done, 1 left'), list.includes('0 of 1 closed')]).toEqual([true, true]);
  const done = (await browser.get(path)).html;
  expect([
    done.includes('Completed'),
    done.includes('Complete cycle'),
    done.includes('Burn-down. On the last of 1 days'),
  ]).toEqual([true, false, true]);
  expect((await post('start')).headers.get('location')).toBe(path);
});

it('moves open tasks with subtasks with the others, unless the user unticks it', async () => {
  const member = app.as(team.member);
  for (const include_parents of ['true', undefined]) {
    const [parent = ''] = await insertTasks(app, team, project, [{ title: 'Parent' }]);
    await insertTasks(app, team, project, [{ parent_task_id: parent }]);
    const { cycle_id } = await createCycle(member, project);
    await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [parent] });
    await member.post(`/api/sprints/${cycle_id}/start`, {});
    const next = await createCycle(member, project);
    const path = `/app/cycles/${cycle_id}`;
    const { html } = await browser.get(path);
    expect(html).toContain('No open task moves on. 1 with subtasks is open too.');
    expect(html).toContain('name="include_parents" value="true" checked');
    await browser.post(
      `${path}/complete`,
      { rollover_to: next.cycle_id, ...(include_parents && { include_parents }) },
      { from: path },
    );
    expect((await taskRow(parent)).cycle_id).toBe(include_parents ? next.cycle_id : cycle_id);
  }
});

it('edits, removes a task, deletes, and keeps what was typed in a rejected form', async () => {
  const { cycle_id } = await createCycle(app.as(team.member), { ...project, goal: 'Old' });
  const [task_id = ''] = await insertTasks(app, team, project, [{}]);
  await app.as(team.member).post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [task_id] });
  const path = `/app/cycles/${cycle_id}`;
  const given = { name: 'Better', goal: '', start_date: '2026-12-09', end_date: '2026-12-01' };
  const bad = await browser.post(path, given);
  expect([bad.status, bad.html.includes('value="Better"'), bad.html.includes('Last day must not be before first day')]).toEqual([
    400,
    true,
    true,
  ]);
  expect((await browser.post(path, { ...given, end_date: '2026-12-20' })).status).toBe(303);
  expect(await cycleRow(cycle_id)).toMatchObject({ name: 'Better', goal: null, end_date: '2026-12-20' });
  await browser.post(`${path}/remove`, { task_id }, { from: path });
  expect((await taskRow(task_id)).cycle_id).toBeNull();
  expect((await browser.post(`${path}/delete`, {}, { from: path })).headers.get('location')).toBe('/app/cycles');
  expect((await browser.get(path)).status).toBe(404);
});

it('shows guests what they may read and no form', async () => {
  const { cycle_id } = await createCycle(app.as(team.member), { ...project, name: 'Cycle 7' });
  const guest = await signIn(app, team.guest);
  const list = (await guest.get('/app/cycles')).html;
  const { html } = await guest.get(`/app/cycles/${cycle_id}`);
  expect([list.includes('Cycle 7'), list.includes('Plan cycle'), html.includes('Cycle 7'), html.includes('Start cycle')]).toEqual(
    [true, false, true, false],
  );
  const other = await buildTeam(app);
  await givePasswords(app);
  const stranger = await signIn(app, other.member);
  expect((await stranger.get(`/app/cycles/${cycle_id}`)).status).toBe(403);
});

it('says that its figures count tasks without subtasks, and the list all of them', async () => {
  const member = app.as(team.member);
  const cycle = await createCycle(member, { team_id: team.team_id });
  const [parent = '', child = ''] = await insertTasks(app, team, project, [{ title: 'Whole' }, { title: 'Part' }]);
  await member.patch(`/api/tasks/${child}`, { parent_task_id: parent });
  await member.post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [parent, child] });
  await member.post(`/api/sprints/${cycle.cycle_id}/start`, {});
  const { html } = await browser.get(`/app/cycles/${cycle.cycle_id}`);
  expect(html).toContain('<dt>Committed</dt><dd>1</dd>');
  expect(html).toContain('These figures count tasks without subtasks: 1 of the 2 below.');
  expect(html).toContain('0 of 2 closed');
  await member.post(`/api/sprints/${cycle.cycle_id}/complete`, {});
  expect((await browser.get(`/app/cycles/${cycle.cycle_id}`)).html).toContain(
    'These figures count tasks without subtasks. A task',
  );
});

describe('tasks to add', () => {
  /** Titles in the order of the page. */
  const shown = async (path: string) => {
    const { html } = await browser.get(path);
    const [, section = ''] = html.split('id="h-add"');
    return [...section.split('id="h-edit"')[0]!.matchAll(/<strong>([^<]+)<\/strong>/g)].map(([, title]) => title);
  };

  it('come by priority, then age, narrowed by words, project, assignee and priority, and stay so after some were added', async () => {
    const other = await buildProject(app, team, { name: 'Quay' });
    const { cycle_id } = await createCycle(app.as(team.member), { team_id: team.team_id, project_id: null });
    const make = async (title: string, priority: string, more: Record<string, unknown> = {}) =>
      (await app.as(team.member).post('/api/tasks', { title, priority, ...project, ...more })).body.task_id as string;
    await make('Old', 'medium');
    await make('New', 'medium');
    const crane = await make('Fix the crane', 'urgent', { assigned_to: team.member.user_id, estimate: 3 });
    await make('Paint the quay', 'high', { project_id: other.project_id });
    const done = await make('Done', 'urgent');
    await app.as(team.member).patch(`/api/tasks/${done}/status`, { status: 'done' });
    const path = `/app/cycles/${cycle_id}`;
    expect(await shown(path)).toEqual(['Fix the crane', 'Paint the quay', 'Old', 'New']);
    expect(await shown(`${path}?q=quay`)).toEqual(['Paint the quay']);
    expect(await shown(`${path}?project_id=${other.project_id}`)).toEqual(['Paint the quay']);
    expect(await shown(`${path}?assigned_to=me`)).toEqual(['Fix the crane']);
    expect(await shown(`${path}?assigned_to=none&priority=medium`)).toEqual(['Old', 'New']);
    expect(await shown(`${path}?assigned_to=nonsense&priority=&project_id=x&offset=-1`)).toHaveLength(4);
    const back = `${path}?priority=urgent`;
    const { html } = await browser.get(back);
    for (const part of [`name="back" value="${back}"`, '3 points', '>Urgent<']) expect(html).toContain(part);
    const nothing = await browser.post(`${path}/tasks`, { back }, { from: back });
    const added = await browser.post(`${path}/tasks`, { back, task_ids: crane }, { from: back });
    expect([nothing, added].map(({ headers }) => headers.get('location'))).toEqual([back, back]);
    expect([(await taskRow(crane)).cycle_id, await shown(back)]).toEqual([cycle_id, []]);
    expect((await browser.get(back)).html).toContain('No open task without a cycle passes the filter.');
  });

  it('come in pages, of one project for a cycle of that project, and not to a guest', async () => {
    const other = await buildProject(app, team);
    await app.as(team.member).post('/api/tasks', { title: 'Elsewhere', project_id: other.project_id });
    await insertTasks(
      app,
      team,
      project,
      Array.from({ length: 55 }, (_, at) => ({ title: `Task ${at}` })),
    );
    const path = `/app/cycles/${(await createCycle(app.as(team.member), project)).cycle_id}`;
    expect(await shown(path)).toHaveLength(50);
    const { html } = await browser.get(path);
    expect([html.includes(`href="${path}?offset=50#h-add"`), html.includes('id="b-project_id"')]).toEqual([true, false]);
    expect(await shown(`${path}?offset=50`)).toHaveLength(5);
    expect((await (await signIn(app, team.guest)).get(path)).html).not.toContain('id="h-add"');
  });
});
