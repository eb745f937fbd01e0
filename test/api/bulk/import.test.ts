import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { toCounts, importText, ndjson } from './import-support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let manager: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  manager = app.as(team.manager);
});

const db = () => app.services.db;
const run = (records: object[], fields: Record<string, unknown> = {}) => importText(app, manager, team, ndjson(records), fields);
const task = (id: string, fields: object = {}) => ({ entity: 'task', task_id: id, title: `Task ${id}`, ...fields });
const unique = (name: string): string => `${name}-${project.project_id.slice(-8)}`;

it('writes tasks in the order of their parents, with all their fields', async () => {
  const [child, parent, grandchild] = [unique('child'), unique('parent'), unique('grandchild')];
  const job = await run(
    [
      task(grandchild, { parent_task_id: child }),
      task(child, { parent_task_id: parent, tags: ['a'], priority: 'high', due_date: '2026-12-24' }),
      task(parent, { status: 'done', actual_hours: 3, estimated_hours: 5, is_archived: true, position: 7.5, fields: { a: [1] } }),
    ],
    { project_id: project.project_id },
  );
  expect(job).toMatchObject({ status: 'succeeded', created: 3, failed: 0, processed: 3, total: 3, errors: [], notes: [] });
  expect((await manager.get(`/api/tasks/${parent}`)).body).toMatchObject({
    status: 'done',
    actual_hours: 3,
    estimated_hours: 5,
    is_archived: true,
    position: 7.5,
    version: 1,
    created_by: team.manager.user_id,
    subtasks: [{ task_id: child, tags: ['a'], priority: 'high', subtasks: [{ task_id: grandchild }] }],
  });
  expect((await manager.get(`/api/work-items/${parent}`)).body.fields).toEqual({ a: [1] });
  const audit = await db()('audit_entries').where({ team_id: team.team_id, entity_type: 'task', action: 'create' });
  expect(audit).toHaveLength(3);
});

it('resolves ids that the file made up, of every kind', async () => {
  const job = await run([
    { entity: 'relation', source_id: 't1', target_id: 'n1', relation_type: 'attached_to' },
    { entity: 'comment', comment_id: 'c2', task_id: 't1', parent_comment_id: 'c1', content: 'A reply' },
    { entity: 'comment', comment_id: 'c1', task_id: 't1', content: 'A comment' },
    { entity: 'comment', comment_id: 'c3', task_id: 't1', content: '', deleted: true },
    { entity: 'custom_field_value', field_id: 'f1', entity_type: 'task', entity_id: 't1', value: 'high' },
    { entity: 'task', task_id: 't1', title: 'One', project_id: 'p1', cycle_id: 'y1' },
    { entity: 'note', note_id: 'n1', title: 'A note', content: 'Text', project_id: 'p1' },
    { entity: 'work_item', item_id: 'w1', type: 'doc', title: 'A doc', content: 'Words' },
    {
      entity: 'work_item',
      item_id: 'w2',
      type: 'file',
      title: 'a.txt',
      file: { size: 3, content_type: 'text/plain', sha256: 'ab' },
    },
    { entity: 'project', project_id: 'p1', name: 'Website' },
    { entity: 'cycle', cycle_id: 'y1', name: 'First', project_id: 'p1', status: 'active' },
    {
      entity: 'custom_field',
      field_id: 'f1',
      name: 'Severity',
      key: 'severity',
      field_type: 'select',
      entity_type: 'task',
      options: [{ value: 'high' }],
      is_archived: true,
    },
    {
      entity: 'automation',
      automation_id: 'a1',
      name: 'Tell',
      trigger_type: 'task.created',
      actions: [{ type: 'add_comment', params: { content: 'Hello' } }],
      is_active: true,
      project_id: 'p1',
    },
  ]);
  expect(job).toMatchObject({ status: 'succeeded', created: 13, failed: 0, total: 13, errors: [], notes: [] });
  const projects = (await manager.get(`/api/projects?team_id=${team.team_id}`)).body;
  const { project_id } = projects.find(({ name }: { name: string }) => name === 'Website');
  const [{ task_id, cycle_id }] = (await manager.get(`/api/tasks?project_id=${project_id}`)).body;
  expect((await manager.get(`/api/sprints/${cycle_id}`)).body).toMatchObject({ status: 'active', task_count: 1, project_id });
  const comments = (await manager.get(`/api/tasks/${task_id}/comments`)).body;
  expect(comments).toMatchObject([{ content: 'A comment', replies: [{ content: 'A reply' }] }]);
  const values = (await manager.get(`/api/custom-fields/values?entity_type=task&entity_id=${task_id}`)).body;
  expect(values).toMatchObject([{ key: 'severity', value: 'high' }]);
  expect((await manager.get(`/api/custom-fields?team_id=${team.team_id}`)).body).toMatchObject([{ is_archived: true }]);
  expect((await manager.get(`/api/work-items/${task_id}/relations`)).body).toMatchObject([
    { relation_type: 'attached_to', item: { title: 'A note' } },
  ]);
  expect((await manager.get(`/api/automations?team_id=${team.team_id}`)).body).toMatchObject([{ is_active: false, project_id }]);
  expect(await db()('items').where({ team_id: team.team_id, item_type: 'file' }).first()).toMatchObject({
    fields: { file: { size: 3 } },
  });
});

describe('an id that the team has', () => {
  const existing = async () => {
    const id = unique('known');
    await manager.post('/api/tasks', { task_id: id, title: 'Before', project_id: project.project_id, tags: ['kept'] });
    return id;
  };

  test.each([
    ['error', { failed: 1, created: 1 }, 'Before'],
    ['skip', { skipped: 1, created: 1 }, 'Before'],
    ['update', { updated: 1, created: 1 }, 'After'],
  ])('%s', async (on_conflict, counts, title) => {
    const id = await existing();
    const lines = [{ entity: 'task', task_id: id, title: 'After' }, task(unique('new'), { project_id: project.project_id })];
    const job = await run(lines, { on_conflict });
    expect(job).toMatchObject({ status: 'succeeded', processed: 2, ...counts });
    if (on_conflict === 'error')
      expect(job.errors).toEqual([{ line: 1, entity: 'task', message: 'The task with this id exists already' }]);
    expect((await manager.get(`/api/tasks/${id}`)).body).toMatchObject({ title, tags: ['kept'] });
    const again = await run(lines, { on_conflict });
    expect(toCounts(again)).toMatchObject(on_conflict === 'error' ? { failed: 2 } : { skipped: 2, failed: 0 });
  });

  it('counts twice in one file', async () => {
    const id = unique('twice');
    const job = await run([task(id), task(id, { title: 'Second' }), task(id, { title: 'Third' })], {
      on_conflict: 'update',
      project_id: project.project_id,
    });
    expect(job).toMatchObject({ created: 1, updated: 2, failed: 0 });
    expect((await manager.get(`/api/tasks/${id}`)).body.title).toBe('Third');
  });
});

it('changes and reveals no records of other teams', async () => {
  const other = await buildTeam(app);
  const theirs = await buildProject(app, other);
  const id = unique('theirs');
  await app.as(other.member).post('/api/tasks', { task_id: id, title: 'Theirs', project_id: theirs.project_id });
  const unknown = '019a9f00-0000-7000-8000-00000000dead';
  const about = (taskId: string, projectId: string) => [
    { entity: 'task', title: 'x', project_id: projectId },
    { entity: 'task', title: 'x', project_id: project.project_id, parent_task_id: taskId },
    { entity: 'comment', task_id: taskId, content: 'x' },
    { entity: 'relation', source_id: taskId, target_id: project.project_id, relation_type: 'related_to' },
    { entity: 'relation', source_id: project.project_id, target_id: taskId, relation_type: 'related_to' },
    { entity: 'note', title: 'x', project_id: projectId },
    { entity: 'cycle', name: 'x', project_id: projectId },
    { entity: 'automation', name: 'x', trigger_type: 'task.created', project_id: projectId },
    { entity: 'custom_field_value', field_id: unknown, entity_type: 'task', entity_id: taskId, value: 1 },
  ];
  const foreign = await run(about(id, theirs.project_id), { on_conflict: 'update' });
  const nothing = await run(about(unknown, unknown), { on_conflict: 'update' });
  expect(foreign.errors).toHaveLength(9);
  expect(foreign.errors).toEqual(nothing.errors);
  const copy = await run(
    [task(id, { project_id: project.project_id, title: 'Ours' }), { entity: 'comment', task_id: id, content: 'Hi' }],
    {
      on_conflict: 'update',
    },
  );
  expect(copy).toMatchObject({ created: 2, updated: 0, failed: 0, notes: [] });
  expect((await app.as(other.member).get(`/api/tasks/${id}`)).body).toMatchObject({ title: 'Theirs', version: 1 });
  const [ours] = (await manager.get(`/api/tasks?project_id=${project.project_id}`)).body;
  expect(ours.title).toBe('Ours');
  expect(ours.task_id).not.toBe(id);
  expect((await manager.get(`/api/tasks/${ours.task_id}/comments`)).body).toHaveLength(1);
});

it('says of each line what is wrong with it, and goes on', async () => {
  const [a, b] = [unique('a'), unique('b')];
  const lines = [
    'not json',
    '{"entity":"task"}',
    '[1]',
    '{"entity":"tasks","title":"x"}',
    JSON.stringify(task(a, { parent_task_id: b })),
    JSON.stringify(task(b, { parent_task_id: a })),
    '',
    JSON.stringify(task(unique('good'))),
    JSON.stringify(task(unique('date'), { due_date: 'tomorrow' })),
    JSON.stringify(task('../../etc')),
    JSON.stringify({ entity: 'comment', task_id: a, content: 'lost' }),
    `{"entity":"task","title":"${'x'.repeat(201)}"}`,
    JSON.stringify(task(unique('assigned'), { assigned_to: '019a9f00-0000-7000-8000-00000000dead' })),
  ];
  const job = await importText(app, manager, team, lines.join('\r\n'), { project_id: project.project_id });
  expect(job).toMatchObject({ status: 'succeeded', created: 3, failed: 9, total: 12, processed: 12 });
  expect(job.errors).toEqual([
    { line: 1, entity: null, message: 'The line is not valid JSON' },
    { line: 2, entity: 'task', message: 'title is required' },
    { line: 3, entity: null, message: 'The record must be an object' },
    { line: 4, entity: 'tasks', message: expect.stringContaining('entity must be one of project, project_update') },
    { line: 5, entity: 'task', message: expect.stringContaining('forms a cycle') },
    { line: 6, entity: 'task', message: expect.stringContaining('forms a cycle') },
    { line: 9, entity: 'task', message: 'due_date is not a valid date' },
    { line: 11, entity: 'comment', message: 'Task not found' },
    { line: 12, entity: 'task', message: 'title is longer than 200 characters' },
  ]);
  // All that a job says of single lines is in the job itself: a list of 500 jobs would be tens of megabytes.
  const [listed] = (await manager.get(`/api/bulk/jobs?team_id=${team.team_id}&limit=1`)).body;
  expect([listed.job_id, listed.errors, listed.notes]).toEqual([job.job_id, job.errors.slice(0, 5), undefined]);
  expect(job.notes).toEqual([{ line: 13, entity: 'task', message: expect.stringContaining('is no member of the team') }]);
});

it('ends a job whose input it cannot read', async () => {
  const broken = await importText(app, manager, team, '{"entity":"task"}', { format: 'json' });
  expect(broken).toMatchObject({
    status: 'failed',
    error_code: 'input_invalid',
    errors: [{ message: 'The file is not a JSON array' }],
  });
  const columns = await importText(app, manager, team, 'a,b\n1,2\n', { format: 'csv' });
  expect(columns).toMatchObject({
    status: 'failed',
    errors: [{ line: 1, message: expect.stringContaining('The column entity is missing') }],
  });
});

it('takes CSV with an apostrophe before formulas', async () => {
  const data =
    '\ufeffentity,task_id,title,tags,estimated_hours,description\r\n' + `task,${unique('csv')},'=SUM(1),"[""a"",""b""]",2.5,\r\n`;
  const job = await importText(app, manager, team, data, { format: 'csv', project_id: project.project_id });
  expect(job).toMatchObject({ created: 1, errors: [] });
  expect((await manager.get(`/api/tasks/${unique('csv')}`)).body).toMatchObject({
    title: '=SUM(1)',
    tags: ['a', 'b'],
    estimated_hours: 2.5,
    description: null,
  });
});
