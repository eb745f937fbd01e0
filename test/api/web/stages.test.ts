import { buildSession, stage } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The stages of a team on its pages: columns of boards, choices of a status, chips and lines of activity.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let path: string;
let taskId: string;
let qa: string;
let backlog: string;
const row = () => app.services.db('tasks').where({ task_id: taskId }).first();
const state = async () => {
  const { status, resolution, stage_id } = await row();
  return [status, resolution, stage_id];
};
const define = async (name: string, status: string): Promise<string> =>
  (await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name, status })).body.stage_id;
/** Headings of the columns with their counts, and the titles in each. */
const columns = (html: string): string[] =>
  [...html.matchAll(/<section aria-labelledby="h-[^"]*" data-status="([^"]*)" data-name="([^"]*)"[\s\S]*?<\/section>/g)].map(
    ([text, , name]) =>
      `${name} ${/class="aside">(\d+)</.exec(text)?.[1]}: ${[...text.matchAll(/>(Task \w)<\/a>/g)].map((one) => one[1]).join(',')}`,
  );
const undo = async () => {
  const { html } = await browser.get(path);
  const [, value = ''] = /name="undo" value="([^"]*)"/.exec(html) ?? [];
  await browser.post('/app/undo', { undo: value, back: path }, { from: path });
  return html;
};
const noticeAt = async (at: string) => /class="notice[^"]*"[^>]*>.*?<span>([^<]*)/s.exec((await browser.get(at)).html)?.[1];

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
  [backlog, qa] = [await define('Backlog', 'todo'), await define('In QA <b>', 'in_review')];
  taskId = (await buildTask(app, team, project, { title: 'Task A', stage_id: qa })).task_id;
  await buildTask(app, team, project, { title: 'Task B', status: 'in_review' });
});

it('are columns of the boards of a project, a cycle and a view, and add tasks there', async () => {
  const expected = [
    'Backlog 0: ',
    'To do 0: ',
    'In progress 0: ',
    'In review 1: Task B',
    'In QA &lt;b&gt; 1: Task A',
    'Done 0: ',
  ];
  expect(columns((await browser.get(`${path}/board`)).html)).toEqual(expected);
  const made = await browser.post(`${path}/board`, { text: 'Task C', status: backlog }, { from: `${path}/board` });
  expect(made.status).toBe(303);
  expect(await noticeAt(`${path}/board`)).toContain('Backlog');
  expect(columns((await browser.get(`${path}/board`)).html)[0]).toBe('Backlog 1: Task C');
  const cycle = await createCycle(app.as(team.member), { team_id: team.team_id });
  await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [taskId] });
  expect(columns((await browser.get(`/app/cycles/${cycle.cycle_id}/board`)).html)).toContain('In QA &lt;b&gt; 1: Task A');
  const view = { name: 'v', entity_type: 'task', team_id: team.team_id, layout: 'board' };
  const { body } = await app.as(team.member).post('/api/saved-views', view);
  expect(columns((await browser.get(`/app/views/${body.view_id}`)).html)).toContain('In QA &lt;b&gt; 1: Task A');
});

it('take a card, which Undo takes back; the column of the status takes it out of the stage', async () => {
  const move = async (to: string) =>
    browser.post('/app/tasks/move', { to: `${to}:${(await row()).version}:${taskId}`, back: path }, { from: path });
  await move('in_review');
  expect(await state()).toEqual(['in_review', null, null]);
  await move(backlog);
  expect(await state()).toEqual(['todo', null, backlog]);
  expect(await undo()).toContain('Moved to Backlog');
  expect(await state()).toEqual(['in_review', null, null]);
  await move(qa);
  await move('done');
  await undo();
  expect(await state()).toEqual(['in_review', null, qa]);
  const other = await buildTeam(app);
  const theirs = await app
    .as(other.manager)
    .post('/api/stages', { team_id: other.team_id, name: 'Secret stage', status: 'done' });
  await move(theirs.body.stage_id);
  expect(await noticeAt(path)).not.toContain('Secret');
  expect(await state()).toEqual(['in_review', null, qa]);
});

it('are chosen on the page of a task, in the chooser and for what is ticked, and named by chips and activity', async () => {
  const at = `/app/items/${taskId}`;
  const { html } = await browser.get(at);
  expect(html).toContain('<optgroup label="In review">');
  expect(html).toContain(`<option value="${qa}" selected>In QA &lt;b&gt;</option>`);
  await browser.post(`${at}/task`, { version: String((await row()).version), status: backlog, 'was-status': qa }, { from: at });
  expect(await state()).toEqual(['todo', null, backlog]);
  expect((await browser.get(at)).html).toContain('changed status from In QA &lt;b&gt; to Backlog');
  const chooser = await browser.get(`/app/tasks/change?pick=status:${(await row()).version}:${taskId}`);
  expect(chooser.html).toMatch(/aria-current="true"[^>]*>.*?Set status to Backlog/s);
  expect(chooser.html).toContain(`value="status:${qa}"`);
  const change = (fields: object) =>
    row().then(({ version }) =>
      browser.post('/app/tasks/change', { task: `${version}:${taskId}`, back: path, ...fields }, { from: path }),
    );
  await change({ change: `status:${qa}` });
  expect(await noticeAt(path)).toBe('Moved to In QA &lt;b&gt; · TEA-1');
  expect((await browser.get(path)).html).toMatch(/class="chip in_review"[^>]*>In QA &lt;b&gt;</);
  await change({ status: 'in_review' });
  expect(await state()).toEqual(['in_review', null, null]);
  await change({ status: backlog, act: 'change' });
  expect(await state()).toEqual(['todo', null, backlog]);
  await app.as(team.manager).delete(`/api/stages/${backlog}`);
  expect((await browser.get(at)).html).toContain('a former stage');
});

it('without stages nothing is offered', async () => {
  for (const id of [qa, backlog]) await app.as(team.manager).delete(`/api/stages/${id}`);
  expect(columns((await browser.get(`${path}/board`)).html)).toHaveLength(4);
  const { html } = await browser.get(`/app/items/${taskId}`);
  expect(html).not.toMatch(/<optgroup|stage_id/);
});

it('are defined, renamed, ordered and deleted by managers, on a page that every member reads', async () => {
  const at = `/app/teams/${team.team_id}/stages`;
  const managing = await signIn(app, team.manager);
  /** Places of the page in their order. */
  const places = async (who = managing) => {
    const [list = ''] = /<ul class="rows">[\s\S]*?<\/ul>/.exec((await who.get(at)).html) ?? [];
    return [...list.matchAll(/<strong>(?:<bdi>)?([^<]*)/g)].map(([, name]) => name);
  };
  const send = (path: string, form: Record<string, string>) => managing.post(`${at}${path}`, form, { from: at });
  expect(await places()).toEqual(['Backlog', 'To do', 'In progress', 'In review', 'In QA &lt;b&gt;', 'Done']);
  expect((await managing.get(at)).html).toContain('Add Ready to deploy');
  await send('', { name: 'Ready', status: 'in_review' });
  await send(`/${qa}/move`, { to: 'up' });
  await send(`/${qa}/move`, { to: 'up' });
  await send(`/${backlog}/move`, { to: 'down' });
  await send(`/${backlog}/name`, { name: 'Later' });
  expect(await places()).toEqual(['To do', 'Later', 'In progress', 'In QA &lt;b&gt;', 'In review', 'Ready', 'Done']);
  expect(await send('', { name: 'done', status: 'todo' })).toMatchObject({
    status: 422,
    html: expect.stringContaining('id="h-name"'),
  });
  expect((await send('', { name: 'ready', status: 'todo' })).html).toContain('already has a stage with the name ready');
  expect((await send(`/${qa}/name`, { name: 'Later' })).status).toBe(303);
  expect((await managing.get(at)).html).toContain('already has a stage with the name Later');
  await send(`/${qa}/delete`, {});
  expect((await managing.get(at)).html).toContain('Its task keeps its status.');
  expect(await state()).toEqual(['in_review', null, null]);
  const { html } = await browser.get(at);
  expect([html.includes('New stage'), html.includes('Rename')]).toEqual([false, false]);
  expect((await browser.post(at, { name: 'x', status: 'todo' }, { from: at })).status).toBe(403);
  const other = await buildTeam(app);
  await givePasswords(app);
  expect((await (await signIn(app, other.member)).get(at)).status).toBe(403);
});

it('are named where a plan would set one', async () => {
  const session = await buildSession(app, team.member);
  const proposed = [{ tool: 'task.update' as const, entity_id: taskId, params: { stage_id: backlog } }];
  const { plan } = await stage(app, team.member, proposed, { session });
  const message = { session_id: session.session_id, role: 'assistant', content: 'x', action_id: plan?.action_id };
  await app.services.db('agent_messages').insert(message);
  for (const at of ['/app/approvals', `/app/agent/${session.session_id}`]) {
    const { html } = await browser.get(at);
    expect([at, html.includes('Backlog'), html.includes('In QA &lt;b&gt;'), html.includes(backlog)]).toEqual([
      at,
      true,
      true,
      false,
    ]);
  }
});

it('are groups of their own in lists by status, in their order', async () => {
  await buildTask(app, team, project, { title: 'Task C', stage_id: backlog });
  await buildTask(app, team, project, { title: 'Task D' });
  await buildTask(app, team, project, { title: 'Task E', stage_id: qa });
  const heads = (html: string) =>
    [...html.matchAll(/<li class="group"><h2>([\s\S]*?)<\/h2>|<strong>(Task \w)/g)].map(
      ([, head, title]) =>
        title ??
        head
          ?.replaceAll(/<[^>]*>|\s+/g, ' ')
          .replaceAll(/ +/g, ' ')
          .trim(),
    );
  const expected = ['Backlog 1', 'Task C', 'To do 1', 'Task D', 'In review 1', 'Task B', 'In QA &lt;b&gt; 2', 'Task E', 'Task A'];
  expect(heads((await browser.get(`${path}?group=status`)).html)).toEqual(expected);
  const sort = [{ field: 'created_at', direction: 'desc' }];
  const view = { name: 'v', entity_type: 'task', team_id: team.team_id, group_by: 'status', sort };
  const { body } = await app.as(team.member).post('/api/saved-views', view);
  expect(heads((await browser.get(`/app/views/${body.view_id}`)).html)).toEqual(expected);
});
