import { FILTERS_OF } from '../../../api/work/saved-views/rules.js';
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
  expect(saved.html).toContain('Tasks · priority urgent or high · by due date, descending');
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
    project_id: project.project_id,
    tags: ' backend , api,',
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
    project_id: [project.project_id],
    tags: ['backend', 'api'],
    due_after: '2026-01-01',
    due_before: '2027-01-01',
    custom_fields: { severity: ['high', 'a=b'], weight: ['5'] },
  });
  expect(Object.keys(filters).toSorted()).toEqual(FILTERS_OF.task.toSorted());
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
