import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createField, setFields } from '../../factories/custom-fields.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The filters of a project's list and board.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let path: string;
let projectId: string;
const rowsOf = (html: string): string[] =>
  [...html.matchAll(/<strong>([A-Z][a-z ]+)<\/strong>/g)].map(([, title = '']) => title).toSorted();
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const list = async (query: string): Promise<string[]> => rowsOf((await browser.get(`${path}${query}`)).html);

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  projectId = project.project_id;
  path = `/app/projects/${projectId}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
  const tasks = [
    { title: 'Late', due_date: day(-1) },
    { title: 'Late and done', due_date: day(-1), status: 'done' },
    { title: 'Now', due_date: day(0) },
    { title: 'In a week', due_date: day(7) },
    { title: 'Far', due_date: day(40) },
    { title: 'Mine', assigned_to: team.member.user_id },
  ];
  for (const task of tasks) await buildTask(app, team, project, task);
});
afterAll(() => app.close());

describe('filters of tasks', () => {
  it('find tasks by days that move with the calendar', async () => {
    expect(await list('?due=overdue')).toEqual(['Late']);
    expect(await list('?due=today')).toEqual(['Now']);
    expect(await list('?due=next_7')).toEqual(['In a week', 'Now']);
    expect(await list('?due=next_7&due_after=2020-01-01')).toEqual(['In a week', 'Now']);
    expect((await list('?due=week')).includes('Now')).toBe(true);
    expect((await list('?due=week')).includes('Far')).toBe(false);
    expect(await list('?due=never')).toHaveLength(5);
  });

  it.each(['monday', 'saturday', 'sunday'])('take seven days for a week that begins on %s', async (week_start) => {
    await app.as(team.member).patch('/api/auth/me', { preferences: { week_start } });
    const project = await buildProject(app, team);
    for (let at = -7; at <= 7; at += 1) await buildTask(app, team, project, { title: 'Day', due_date: day(at) });
    const { html } = await browser.get(`/app/projects/${project.project_id}?due=week`);
    const days = [...html.matchAll(/<time datetime="([^"]+)"/g)].map(([, date = '']) => date).toSorted();
    expect(days).toHaveLength(7);
    const first = new Date(days[0] as string).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
    expect([first.toLowerCase(), days.includes(day(0))]).toEqual([week_start, true]);
  });

  it('find by creator and by cycle, also in a saved view', async () => {
    const cycle = await createCycle(app.as(team.manager), { team_id: team.team_id, name: 'Spring' });
    const { task_id } = (await app.as(team.manager).post('/api/tasks', { title: 'Of another', project_id: projectId })).body.data;
    await app.services.db('tasks').where({ task_id }).update({ cycle_id: cycle.cycle_id });
    expect(await list(`?cycle_id=${cycle.cycle_id as string}`)).toEqual(['Of another']);
    expect(await list(`?created_by=${team.manager.user_id}`)).toEqual(['Of another']);
    expect(await list('?cycle_id=none&created_by=nonsense')).not.toContain('Of another');
    const { html } = await browser.get(`${path}?cycle_id=${cycle.cycle_id as string}&created_by=${team.manager.user_id}`);
    expect(html).toContain('<bdi>In Spring</bdi>');
    const query = `cycle_id=${cycle.cycle_id as string}&created_by=${team.manager.user_id}`;
    const saved = await browser.post(`${path}/views?${query}`, { name: 'Theirs' }, { from: path });
    const view = (await browser.get(saved.headers.get('location') ?? '')).html;
    expect([rowsOf(view), /<bdi>Created by [^<]+<.*<bdi>In Spring</s.test(view)]).toEqual([['Of another'], true]);
    await app.as(team.admin).delete(`/api/tasks/${task_id as string}`);
  });

  it('find what nobody is assigned, also in a saved view', async () => {
    expect(await list('?assigned_to=none')).toEqual(['Far', 'In a week', 'Late', 'Now']);
    const saved = await browser.post(`${path}/views?assigned_to=none&due=overdue`, { name: 'Free and late' }, { from: path });
    const view = (await browser.get(saved.headers.get('location') ?? '')).html;
    expect([rowsOf(view).includes('Late'), rowsOf(view).includes('Mine')]).toEqual([true, false]);
    expect(view).toContain('<bdi>Unassigned<');
    const stored = await app.services.db('saved_views').where({ name: 'Free and late', team_id: team.team_id }).first();
    expect(stored.filters).toMatchObject({ assigned_to: ['none'], due: 'overdue' });
    expect(view).toContain('<bdi>Overdue<');
    const both = await app.as(team.member).post('/api/saved-views', {
      name: 'Mine or free',
      entity_type: 'task',
      team_id: team.team_id,
      filters: { assigned_to: ['none', 'me'], project_id: [projectId], status: ['todo'] },
    });
    const results = await app.as(team.member).get(`/api/saved-views/${both.body.view_id}/results`);
    expect((results.body as unknown as { title: string }[]).map(({ title }) => title)).toHaveLength(5);
  });

  it('take several values, look for any of them or leave them out, and are kept by a saved view', async () => {
    const { user_id } = team.member;
    const open = await list('');
    const mine = await list('?assigned_to=me');
    expect(await list(`?assigned_to=me&assigned_to=none`)).toEqual(open);
    expect(await list('?assigned_to=me&not=assigned_to')).toEqual(open.filter((title) => !mine.includes(title)));
    expect(await list('?assigned_to=nonsense&assigned_to=me&not=nothing')).toEqual(mine);
    expect(await list('?show=done&not=show')).toEqual(open);
    const all = await browser.get(`${path}?show=done&show=all&not=show`);
    expect([rowsOf(all.html), all.html.includes('<bdi>All tasks</bdi>')]).toEqual([await list('?show=all'), true]);
    const query = `show=todo&show=done&assigned_to=none&assigned_to=${user_id}&not=assigned_to&priority=high&priority=low&not=priority`;
    const { html } = await browser.get(`${path}?${query}`);
    const chips = [...html.matchAll(/<li><a href="([^"]+)" class="chip"><bdi>([^<]+)</g)].map(([, href, label]) => [label, href]);
    expect(chips.map(([label]) => label)).toEqual(['To do or Done', 'Not assigned to nobody or You', 'Priority not high or low']);
    expect(chips[1]?.[1]).toBe(`${path}?show=todo&amp;show=done&amp;priority=high&amp;priority=low&amp;not=priority`);
    expect(html).toMatch(/id="said-assigned_to">not nobody or You</);
    expect(
      [...html.matchAll(/type="checkbox" name="(priority|not)" value="(\w+)" checked/g)].map(([, , value]) => value),
    ).toEqual(['assigned_to', 'priority', 'low', 'high']);
    const saved = await browser.post(`${path}/views?${query}`, { name: 'Neither' }, { from: path });
    const stored = await app.services.db('saved_views').where({ name: 'Neither', team_id: team.team_id }).first();
    expect(stored.filters).toEqual({
      project_id: [projectId],
      status: ['todo', 'done'],
      not_assigned_to: ['none', user_id],
      not_priority: ['high', 'low'],
    });
    const view = (await browser.get(saved.headers.get('location') ?? '')).html;
    expect(view).toContain('<bdi>Not assigned to nobody or You<');
    expect(view).toContain('name="not" value="priority" checked');
  });

  it('know the custom fields of the team: choices as ticks, others by their value', async () => {
    const severity = await createField(app, team, 'select', {
      name: 'Severity <b>',
      options: [{ value: 'high', label: 'High' }],
    });
    const weight = await createField(app, team, 'number', { name: 'Weight' });
    const blocked = await createField(app, team, 'boolean', { name: 'Blocked' });
    const old = await createField(app, team, 'text', { name: 'Old' });
    await app.as(team.manager).patch(`/api/custom-fields/${old.field_id}`, { is_archived: true });
    const own = await buildProject(app, team);
    const base = `/app/projects/${own.project_id}`;
    const tasks = [];
    for (const title of ['Heavy', 'Light', 'Free']) tasks.push(await buildTask(app, team, own, { title }));
    const [heavy, light] = tasks.map(({ task_id }) => task_id) as [string, string];
    await setFields(app, team, [
      { field: severity, task_id: heavy, value: 'high' },
      { field: weight, task_id: heavy, value: 5 },
      { field: weight, task_id: light, value: 1 },
      { field: blocked, task_id: light, value: true },
    ]);
    const find = async (query: string) => rowsOf((await browser.get(`${base}?${query}`)).html);
    const key = `cf_${severity.key}`;
    expect(await find(`${key}=high`)).toEqual(['Heavy']);
    expect(await find(`${key}=high&not=${key}`)).toEqual(['Free', 'Light']);
    expect(await find('cf_weight=5&cf_weight=1')).toEqual(['Heavy', 'Light']);
    expect(await find('cf_weight=5&cf_blocked=true')).toEqual([]);
    expect(await find('cf_blocked=true')).toEqual(['Light']);
    expect(await find('cf_weight=heavy')).toEqual([]);
    expect(await find('cf_unknown=1')).toEqual([]);
    expect(await find('cf_=1&cf_Weight=9&cf_weight=')).toEqual(['Free', 'Heavy', 'Light']);
    const { html } = await browser.get(`${base}?${key}=high&cf_blocked=false&not=cf_blocked&cf_weight=5`);
    const chips = [...html.matchAll(/<li><a href="([^"]+)" class="chip"><bdi>([^<]+)</g)].map(([, href, label]) => [label, href]);
    expect(chips.map(([label]) => label)).toEqual(['Severity &lt;b&gt; is High', 'Blocked is not no', 'Weight is 5']);
    expect(chips[1]?.[1]).toBe(`${base}?${key}=high&amp;cf_weight=5`);
    expect(html).toContain(`type="checkbox" name="${key}" value="high" checked`);
    expect(html).toMatch(/<input id="f-cf_weight" name="cf_weight" value="5"/);
    expect(html).not.toContain('f-cf_old');
    const board = (await browser.get(`${base}/board?${key}=high`)).html;
    expect([board.includes('>Heavy<'), board.includes('>Light<')]).toEqual([true, false]);
    await browser.post(`${base}/views?${key}=high&not=${key}`, { name: 'Mild' }, { from: `${base}?${key}=high` });
    const stored = await app.services.db('saved_views').where({ name: 'Mild', team_id: team.team_id }).first();
    expect(stored.filters.not_custom_fields).toEqual({ [severity.key]: ['high'] });
  });

  it('know the stages of the team; a board then has the columns of those', async () => {
    const stage = async (name: string, status: string) =>
      (await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name, status })).body.stage_id as string;
    const [weld, test] = [await stage('Weld', 'in_progress'), await stage('Test', 'in_review')];
    const own = await buildProject(app, team);
    const base = `/app/projects/${own.project_id}`;
    for (const [title, stage_id] of [
      ['Seam', weld],
      ['Crane', test],
      ['Hook', null],
    ] as const)
      await buildTask(app, team, own, { title, stage_id });
    const found = rowsOf((await browser.get(`${base}?stage_id=${weld}&stage_id=${test}`)).html);
    expect(found).toEqual(['Crane', 'Seam']);
    const columns = async (query: string) => {
      const { html } = await browser.get(`${base}/board?${query}`);
      return [...html.matchAll(/data-status="[^"]+" data-name="([^"]+)"/g)].map(([, name]) => name);
    };
    expect(await columns(`stage_id=${weld}&stage_id=${test}`)).toEqual(['Weld', 'Test']);
    expect(await columns(`stage_id=${weld}&not=stage_id`)).toEqual(['To do', 'In progress', 'In review', 'Test', 'Done']);
    expect((await browser.get(`${base}/board?stage_id=${weld}`)).html).toContain('<bdi>Stage: Weld</bdi>');
    const query = `stage_id=${weld}`;
    const saved = await browser.post(
      `${base}/views?show=all&${query}&sort=manual_order`,
      { name: 'Welding', layout: 'board' },
      { from: `${base}/board?${query}` },
    );
    const view = (await browser.get(saved.headers.get('location') ?? '')).html;
    expect([view.includes('id="board"'), view.includes('>Seam<'), view.includes('>Crane<')]).toEqual([true, true, false]);
  });

  it('show as chips, each of which removes its own filter', async () => {
    const { html } = await browser.get(`${path}?show=todo&assigned_to=none&due=overdue&tag=%3Cb%3E&sort=title`);
    const chips = [...html.matchAll(/<li><a href="([^"]+)" class="chip"><bdi>([^<]+)</g)].map(([, href, label]) => [label, href]);
    expect(chips.map(([label]) => label)).toEqual(['To do', 'Unassigned', '#&lt;b&gt;', 'Overdue']);
    expect(chips[1]?.[1]).toBe(`${path}?show=todo&amp;due=overdue&amp;tag=%3Cb%3E&amp;sort=title`);
    expect((await browser.get(path)).html).not.toContain('class="chips"');
    expect((await browser.get(`${path}/board?priority=high`)).html).toContain(`<li><a href="${path}/board" class="chip">`);
  });
});

describe('the order of a saved view', () => {
  it('is offered in words', async () => {
    const { html } = await browser.get('/app/views/new');
    const sorts = /<select id="f-sort"[^>]*>(.*?)<\/select>/s.exec(html)?.[1] ?? '';
    expect(sorts).toContain('>By time of completion');
    expect(sorts).toContain('>In manual order<');
    expect(sorts).not.toMatch(/>[A-Z][a-z]+ at<|>position<|_[a-z]*</);
  });
});
