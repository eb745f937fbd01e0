import { readFileSync } from 'node:fs';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { finishUndo, importText } from './import-support.js';

let app: TestApp;
let team: TestTeam;
let manager: Client;
let ada: Person;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  manager = app.as(team.manager);
  ada = team.member;
});

/** A fixture in which the assignee is a member of this test's team. */
const fixture = (name: string): string =>
  readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8').replaceAll('ada@example.test', ada.email);
const run = (name: string, format: string, fields: Record<string, unknown> = {}) =>
  importText(app, manager, team, fixture(name), { format, ...fields });

interface Task {
  task_id: string;
  title: string;
  cycle_id: string;
  status: string;
  priority: string;
  resolution: string | null;
  subtasks: Task[];
}
const flat = (tasks: Task[]): Task[] => tasks.flatMap((task) => [task, ...flat(task.subtasks)]);
/** All tasks of the team by the start of their titles. */
async function toTasks(): Promise<Record<string, Task>> {
  const tasks = flat((await manager.get(`/api/tasks?team_id=${team.team_id}`)).body);
  return Object.fromEntries(tasks.map((task) => [task.title.split(' ')[0] as string, task]));
}
const projectNames = async () =>
  (await manager.get(`/api/projects?team_id=${team.team_id}`)).body.map(({ name }: { name: string }) => name).toSorted();
const toComments = async ({ task_id }: Task) =>
  (await manager.get(`/api/tasks/${task_id}/comments`)).body.map(({ content }: { content: string }) => content);
const toRelations = async ({ task_id }: Task) =>
  (await manager.get(`/api/work-items/${task_id}/relations`)).body.map(
    ({ effective_type, item }: { effective_type: string; item: { title: string } }) =>
      `${effective_type} ${item.title.split(' ')[0]}`,
  );

it('takes the CSV of Jira', async () => {
  const job = await run('jira.csv', 'jira_csv');
  expect(job).toMatchObject({
    status: 'succeeded',
    failed: 1,
    errors: [{ line: 7, message: 'The line has no issue key or no summary' }],
  });
  expect(await projectNames()).toEqual(['Web shop']);
  const { Form, Checkout, Pay, Choose } = (await toTasks()) as Record<'Form' | 'Checkout' | 'Pay' | 'Choose', Task>;
  expect(Form).toMatchObject({
    title: 'Form with "quotes", commas and a line break',
    description: 'Fields of the address\n\nImported from Jira: SHOP-3, created by bo',
    status: 'in_progress',
    priority: 'urgent',
    assigned_to: ada.user_id,
    due_date: '2026-04-02',
    tags: ['sub-task', 'forms', 'checkout'],
    estimated_hours: 2,
    estimate: 1,
    actual_hours: 1,
    parent_task_id: Pay.task_id,
  });
  expect(Pay).toMatchObject({
    status: 'in_progress',
    priority: 'low',
    assigned_to: null,
    estimated_hours: null,
    estimate: 5,
    parent_task_id: Checkout.task_id,
  });
  expect(Choose).toMatchObject({ status: 'done', tags: [], parent_task_id: null });
  expect((await manager.get(`/api/sprints/${Form.cycle_id}`)).body).toMatchObject({
    name: 'Sprint 2',
    status: 'planned',
    task_count: 1,
  });
  expect(await toComments(Form)).toEqual([
    '*712020:abc, 12/Mar/26 4:00 PM*\n\nFirst; with a semicolon',
    '*712020:def, 13/Mar/26 8:00 AM*\n\nSecond',
  ]);
  expect(await toRelations(Pay)).toEqual(expect.arrayContaining(['blocked_by Choose']));
  const notes = job.notes.map(({ line, message }: { line: number; message: string }) => `${line} ${message}`);
  expect(notes).toEqual(
    expect.arrayContaining([
      '2 Points are whole numbers: 0.5 became 1',
      '1 Columns that were left out: Environment, Custom field (Severity)',
      '2 Files are not part of the export. Attachments left out: 1',
      '5 The due date “someday” has an unknown form',
      '5 The file assigns 1 task to “Nobody Known”, who is no member of the team: import it again when they have joined, and let it take the fields of the file',
      '5 A related issue is neither in the file nor in the team, or it is in the trash',
    ]),
  );
});

it('puts the tasks of a foreign file into its order, behind those of the team, and moves none when it is imported again', async () => {
  const { project_id } = await buildProject(app, team);
  const build = (title: string) => buildTask(app, team, { project_id }, { title });
  await build('Before');
  const lines = ['Nine', 'Three', 'Seven', 'One', 'Five'].map((title, at) =>
    title === 'Three' ? `Three,S-${at},,12/Mar/26 3:45 PM,13` : `${title},S-${at},1${at},12/Mar/26 3:45 PM,`,
  );
  const data = ['Summary,Issue key,Issue id,Created,Parent id', ...lines].join('\n');
  const options = { format: 'jira_csv', project_id, on_conflict: 'update' };
  expect(await importText(app, manager, team, data, options)).toMatchObject({ created: 5, failed: 0 });
  await build('After');
  const view = { name: 'V', entity_type: 'task', team_id: team.team_id, sort: [{ field: 'manual_order', direction: 'asc' }] };
  const { view_id } = (await manager.post('/api/saved-views', view)).body;
  const titles = async () => (await manager.get(`/api/saved-views/${view_id}/results`)).body.map(({ title }: Task) => title);
  const inOrder = ['Before', 'Nine', 'Three', 'Seven', 'One', 'Five', 'After'];
  expect(await titles()).toEqual(inOrder);
  await manager.patch(`/api/saved-views/${view_id}`, { sort: [{ field: 'created_at', direction: 'desc' }] });
  expect(await titles()).toEqual(['After', 'Before', ...inOrder.slice(1, -1)]);
  await manager.patch(`/api/saved-views/${view_id}`, { sort: view.sort });
  await app.services.db('tasks').where({ project_id, title: 'Nine' }).update({ position: -1 });
  await importText(app, manager, team, data, options);
  expect(await titles()).toEqual(['Nine', ...inOrder.filter((title) => title !== 'Nine')]);
});

it('imports a foreign file a second time by its rule for conflicts, with nothing doubled', async () => {
  const first = await run('jira.csv', 'jira_csv');
  const skipped = await run('jira.csv', 'jira_csv', { on_conflict: 'skip' });
  expect(skipped).toMatchObject({ created: 0, updated: 0, failed: 1, skipped: first.created + first.skipped });
  const refused = await run('jira.csv', 'jira_csv');
  expect(refused).toMatchObject({ created: 0, updated: 0 });
  expect(Object.keys(await toTasks())).toHaveLength(4);
  const other = await buildTeam(app);
  const elsewhere = await importText(app, app.as(other.manager), other, fixture('jira.csv'), { format: 'jira_csv' });
  expect(elsewhere).toMatchObject({ created: first.created, failed: 1 });
});

it('takes the CSV of Linear', async () => {
  const job = await run('linear.csv', 'linear_csv');
  expect(job).toMatchObject({ status: 'succeeded', failed: 0 });
  expect(await projectNames()).toEqual(['Engineering', 'Search']);
  const tasks = await toTasks();
  const { Faster, Old } = tasks as Record<'Faster' | 'Old', Task>;
  const formula = tasks['=Formula'] as Task;
  expect(formula).toMatchObject({
    title: '=Formula in a title',
    status: 'in_review',
    priority: 'urgent',
    assigned_to: ada.user_id,
    tags: ['Bug', 'Frontend'],
    estimated_hours: null,
    estimate: 3,
    due_date: '2026-03-20',
    parent_task_id: Faster.task_id,
  });
  expect(Old).toMatchObject({ status: 'done', is_archived: true });
  expect((await manager.get(`/api/sprints/${formula.cycle_id}`)).body).toMatchObject({
    name: 'Cycle seven',
    start_date: '2026-03-02',
    end_date: '2026-03-15',
  });
  expect((await toRelations(formula)).toSorted()).toEqual(['belongs_to Faster', 'blocked_by Faster', 'related_to Old']);
  expect([Faster, Old].map(({ priority }) => priority)).toEqual(['none', 'low']);
  expect(job.notes[0]).toMatchObject({ line: 1, message: expect.stringContaining('Initiatives, Project Milestone ID') });
});

it('takes issues of GitHub', async () => {
  const job = await run('github.json', 'github_json');
  expect(job).toMatchObject({ status: 'succeeded', failed: 1 });
  expect(await projectNames()).toEqual(['example/shop']);
  const { Blank, Typo } = (await toTasks()) as Record<'Blank' | 'Typo', Task>;
  expect(Blank).toMatchObject({
    description: 'Steps:\n\n1. Open the page\n\nImported from GitHub: example/shop#7, created by octo-bo',
    status: 'todo',
    tags: ['bug'],
    priority: 'none',
    assigned_to: ada.user_id,
  });
  expect(Typo).toMatchObject({ status: 'done' });
  expect((await manager.get(`/api/sprints/${Blank.cycle_id}`)).body).toMatchObject({ name: '1.1', end_date: '2026-04-01' });
  expect(await toComments(Blank)).toEqual(['*octo-ada, 2026-03-03T10:00:00Z*\n\nI can reproduce this.']);
});

it('keeps why nobody completed an issue, in the words of each system', async () => {
  const linear = 'ID,Title,Status\nENG-1,A,Canceled\nENG-2,B,Duplicate\nENG-3,C,Done\n';
  const columns = 'Issue key,Summary,Status,Status Category,Resolution\n';
  const jira = `${columns}S-1,D,Closed,Done,Won't Do\nS-2,E,Erledigt,Done,Duplicate\nS-3,F,Done,Done,Done\nS-4,G,Open,To Do,Won't Do\n`;
  const issue = (number: number, title: string, stateReason: string) => ({ number, title, state: 'CLOSED', stateReason });
  const github = JSON.stringify([issue(1, 'H', 'NOT_PLANNED'), issue(2, 'I', 'DUPLICATE'), issue(3, 'J', 'COMPLETED')]);
  await importText(app, manager, team, linear, { format: 'linear_csv' });
  await importText(app, manager, team, jira, { format: 'jira_csv' });
  await importText(app, manager, team, github, { format: 'github_json' });
  const found = Object.entries(await toTasks()).map(([title, { status, resolution }]) => [title, status, resolution]);
  expect(found).toHaveLength(10);
  expect(found).toEqual(
    expect.arrayContaining([
      ['A', 'done', 'canceled'],
      ['B', 'done', 'duplicate'],
      ['C', 'done', null],
      ['D', 'done', 'canceled'],
      ['E', 'done', 'duplicate'],
      ['F', 'done', null],
      ['G', 'todo', null],
      ['H', 'done', 'canceled'],
      ['I', 'done', 'duplicate'],
      ['J', 'done', null],
    ]),
  );
});

it('keeps a long description in comments, and says so', async () => {
  const description = `${'😀 long text '.repeat(1_500)}the end`;
  const data = JSON.stringify([{ number: 1, title: 'Long', body: description, url: 'https://github.com/a/b/issues/1' }]);
  const job = await importText(app, manager, team, data, { format: 'github_json' });
  expect(job.notes).toEqual([{ line: 1, entity: null, message: expect.stringContaining('the whole text is in comments') }]);
  const { Long } = (await toTasks()) as Record<'Long', Task & { description: string }>;
  expect(Long.description.endsWith('Imported from GitHub: a/b#1')).toBe(true);
  expect((await toComments(Long)).join('') === `The whole description:\n\n${description}`).toBe(true);
});

test.each([
  ['jira_csv', 'Summary,Status\nx,Done\n', 'The column Issue key is missing: this is no CSV export of Jira'],
  ['linear_csv', 'Summary,Status\nx,Done\n', 'The column ID is missing: this is no CSV export of Linear'],
])('refuses another file as %s', async (format, data, message) => {
  const job = await importText(app, manager, team, data, { format });
  expect(job).toMatchObject({ status: 'failed', error_code: 'input_invalid', errors: [{ line: 1, message }] });
});

it('a status that is called as a stage of the team becomes it, in any case; a stage of another team is none', async () => {
  const makeStage = async (of: TestTeam, name: string, status: string): Promise<string> =>
    (await app.as(of.manager).post('/api/stages', { team_id: of.team_id, name, status })).body.stage_id;
  const [backlog, qa] = [await makeStage(team, 'Backlog', 'todo'), await makeStage(team, 'In QA', 'in_review')];
  const other = await buildTeam(app);
  await makeStage(other, 'Icebox', 'done');
  const data = ['ID,Title,Status', 'E-1,One,backlog', 'E-2,Two, In QA', 'E-3,Three,Icebox', 'E-4,Four,Canceled'].join('\n');
  const job = await importText(app, manager, team, data, { format: 'linear_csv' });
  expect(job).toMatchObject({
    status: 'succeeded',
    failed: 0,
    notes: [{ line: 4, message: expect.stringContaining('no stage of these names: “Icebox” became To do (1 task).') }],
  });
  const rows = await app.services
    .db('tasks')
    .where({ team_id: team.team_id })
    .orderBy('title')
    .select('title', 'status', 'stage_id', 'resolution');
  expect(rows).toEqual([
    { title: 'Four', status: 'done', stage_id: null, resolution: 'canceled' },
    { title: 'One', status: 'todo', stage_id: backlog, resolution: null },
    { title: 'Three', status: 'todo', stage_id: null, resolution: null },
    { title: 'Two', status: 'in_review', stage_id: qa, resolution: null },
  ]);
});

it('a file of ours keeps the stages that the team has, with their status, and no others', async () => {
  const made = await manager.post('/api/stages', { team_id: team.team_id, name: 'Ready', status: 'in_progress' });
  const { stage_id } = made.body;
  const project = (await manager.post('/api/projects', { team_id: team.team_id, name: 'P' })).body.data.project_id;
  const records = [
    { title: 'A', stage_id, status: 'in_progress' },
    { title: 'B', stage_id, status: 'todo' },
    { title: 'C', stage_id: '01a22128-f079-767c-8fff-d00a6332335f', status: 'todo' },
    { title: 'D', stage_id: 'nonsense', status: 'done' },
  ].map((task) => JSON.stringify({ entity: 'task', project_id: project, ...task }));
  const job = await importText(app, manager, team, records.join('\n'), { format: 'ndjson' });
  expect(job).toMatchObject({ status: 'succeeded', failed: 0 });
  const rows = await app.services.db('tasks').where({ project_id: project }).orderBy('title').select('status', 'stage_id');
  expect(rows.map((row) => [row.status, row.stage_id])).toEqual([
    ['in_progress', stage_id],
    ['todo', null],
    ['todo', null],
    ['done', null],
  ]);
});

it('starts a cycle of today, unless another one is active, completes those of the past, and takes them back', async () => {
  const day = (shift: number) => new Date(Date.now() + shift * 86_400_000).toISOString();
  const line = (id: string, cycle: number, first: number, last: number) =>
    `${id},Engineering,${id} title,Todo,${cycle},Sprint ${cycle},${day(first)},${day(last)}`;
  const head = 'ID,Team,Title,Status,Cycle Number,Cycle Name,Cycle Start,Cycle End';
  const lines = [line('E-1', 1, -20, -8), line('E-2', 2, -2, 9), line('E-3', 3, -1, 5), line('E-4', 4, 10, 20)];
  const done = line('E-5', 1, -20, -8).replace('Todo', 'Done');
  const job = await importText(app, manager, team, [head, ...lines, done].join('\n'), { format: 'linear_csv' });
  const cycles = (await manager.get(`/api/sprints?team_id=${team.team_id}`)).body as Record<
    'name' | 'status' | 'cycle_id',
    string
  >[];
  expect(Object.fromEntries(cycles.map(({ name, status }) => [name, status]))).toEqual({
    'Sprint 1': 'completed',
    'Sprint 2': 'active',
    'Sprint 3': 'planned',
    'Sprint 4': 'planned',
  });
  expect(job.notes.map(({ message }: { message: string }) => message)).toEqual([
    'The cycle “Sprint 2” was started: its dates include today',
    expect.stringContaining('The cycle stays planned: '),
    '1 cycle was completed, with the tasks in it: the dates are past',
  ]);
  const past = cycles.find(({ name }) => name === 'Sprint 1')?.cycle_id;
  const { body: report } = await manager.get(`/api/sprints/${past}/report`);
  expect(report).toMatchObject({
    cycle: { started_at: expect.stringContaining(day(-20).slice(0, 10)), task_count: 2, done_count: 1 },
    committed: 2,
    added: 0,
    completed: 1,
    carried_over: 1,
  });
  // One bar for each of its days, of which the last has what is left.
  expect(report.days).toHaveLength(13);
  expect([report.days[0].remaining, report.days.at(-1)]).toEqual([2, { date: day(-8).slice(0, 10), remaining: 1 }]);
  // A cycle that only the import has filled goes with it; one that others have used stays.
  const [{ project_id }] = (await manager.get(`/api/projects?team_id=${team.team_id}`)).body;
  const mine = (await manager.post('/api/tasks', { title: 'Mine', project_id })).body.task_id;
  const started = cycles.find(({ name }) => name === 'Sprint 2')?.cycle_id;
  await manager.post(`/api/sprints/${started}/tasks`, { task_ids: [mine] });
  // So does one that a person has started.
  expect((await manager.post(`/api/sprints/${started}/complete`, { rollover_to: 'backlog' })).status).toBe(200);
  const third = cycles.find(({ name }) => name === 'Sprint 3')?.cycle_id;
  expect((await manager.post(`/api/sprints/${third}/start`)).status).toBe(200);
  await manager.post(`/api/bulk/jobs/${job.job_id}/undo`);
  await finishUndo(app, job.job_id);
  const left = (await manager.get(`/api/sprints?team_id=${team.team_id}`)).body as { name: string; status: string }[];
  expect(left.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual(['Sprint 2 completed', 'Sprint 3 active']);
});

it('reads times as JavaScript writes them, as exports of Linear may', async () => {
  const text = (iso: string) =>
    `${new Date(iso).toUTCString().replace(/^(...), (..) (...) (....) (.*) GMT$/, '$1 $3 $2 $4 $5')} GMT+0000 (GMT+00:00)`;
  expect(text('2026-05-13T11:21:41Z')).toBe('Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00)');
  const head = 'ID,Team,Title,Status,Due Date,Created,Cycle Number,Cycle Name,Cycle Start,Cycle End';
  const days = ['2026-06-01T00:00:00Z', '2026-01-05T08:00:00Z'].map(text);
  const line = [
    'J-1',
    'Engineering',
    'Moor',
    'Todo',
    ...days,
    '1',
    'Sprint 1',
    text('2026-01-01T00:00:00Z'),
    text('2026-01-14T00:00:00Z'),
  ];
  const job = await importText(app, manager, team, [head, line.join(',')].join('\n'), { format: 'linear_csv' });
  expect(job.notes.map(({ message }: { message: string }) => message)).toEqual([expect.stringMatching(/^1 cycle was completed/)]);
  const task = await app.services.db('tasks').where({ title: 'Moor', team_id: team.team_id }).first();
  expect(task).toMatchObject({ due_date: expect.stringMatching(/^2026-06-01/) });
  expect(new Date(task.created_at).toISOString()).toBe('2026-01-05T08:00:00.000Z');
});
