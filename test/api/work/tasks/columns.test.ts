import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { declareColumn, listTaskColumns } from '../../../../api/work/tasks/columns.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';
import { type ApiProcess, killApiProcesses, startApiProcess } from '../../../resilience/api-process.js';

// The table of columns agrees with PostgreSQL, and one more entry reaches everything that knows the fields of a task.

let app: TestApp;
let team: TestTeam;
let api: ApiProcess;
let worker: ChildProcess | undefined;

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  team = await buildTeam(app);
});
afterAll(async () => {
  killApiProcesses();
  worker?.kill('SIGKILL');
  await app.close();
});

/** Columns that no response shows: the trash, and the users behind a due date. */
const INTERNAL = ['cascade_id uuid', 'deleted_at timestamptz', 'deleted_by uuid', 'due_set_by uuid[]'];

async function readAttributes(relation: string): Promise<string[]> {
  const { rows } = await app.services.db.raw<{ rows: { column: string }[] }>(
    `select attname || ' ' || replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as column
     from pg_attribute where attrelid = '${relation}'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  return rows.map(({ column }) => column);
}

it('declares the columns of the table and the attributes of the record', async () => {
  const declared = listTaskColumns('shown').map(declareColumn);
  expect((await readAttributes('tasks')).toSorted()).toEqual([...declared, ...INTERNAL].toSorted());
  expect(await readAttributes('task_record')).toEqual(declared.map((column) => column.replace('timestamptz', 'text')));
});

describe('a migration that adds a column', () => {
  let trx: Knex.Transaction;
  beforeEach(async () => {
    trx = await app.services.db.transaction();
  });
  afterEach(() => trx.rollback());

  const readRecord = async (task_id: string): Promise<string> =>
    (
      await trx.raw<{ rows: { record: string }[] }>('select task_json(t)::text as record from tasks t where task_id = ?', [
        task_id,
      ])
    ).rows[0]!.record;

  it('appends it to the record, and leaves the others as they are', async () => {
    const other = await buildTeam(app);
    const { task_id } = await buildTask(app, other, await buildProject(app, other), { tags: ['a'] });
    const before = await readRecord(task_id);
    await trx.raw(
      `alter table tasks add moved_at timestamptz default '2026-01-02 03:04:05+00', add "Grade" numeric(4, 1)[] default '{1.5}'`,
    );
    expect(await readRecord(task_id)).toBe(before);
    await trx.raw(`select show_task_column('moved_at'), show_task_column('Grade')`);
    expect(await readRecord(task_id)).toBe(before.replace(/}$/, ',"moved_at":"2026-01-02T03:04:05.000Z","Grade":[1.5]}'));
  });

  it('cannot show what the table lacks, nor a column twice', async () => {
    const show = (name: string) => trx.transaction((inner) => inner.raw('select show_task_column(?)', [name]));
    await expect(show('effort')).rejects.toThrow('tasks has no column "effort"');
    await expect(show('title')).rejects.toThrow('column "title" of relation "task_record" already exists');
  });
});

async function send(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${api.url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${team.manager.token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : { text }) as Record<string, unknown>;
}

/** What a migration that adds the column would say. */
async function addColumn(): Promise<void> {
  const { db } = app.services;
  await db.raw('alter table tasks add effort integer');
  await db.raw(`select show_task_column('effort')`);
}

describe('with one more entry', () => {
  let project: { project_id: string };
  let task_id: string;
  beforeAll(async () => {
    await addColumn();
    project = await buildProject(app, team);
    const preload = { NODE_OPTIONS: `--import ${join(process.cwd(), 'test/api/work/tasks/added-column.mjs')}` };
    api = await startApiProcess(app, preload);
    worker = await startWorkerProcess(app, preload);
    const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' };
    const fields = { title: 'it', ...project, due_date: '2026-12-01', effort: 5, recurrence };
    ({ task_id } = (await send('POST', '/tasks', fields)) as { task_id: string });
    await send('POST', '/tasks', { title: 'below', ...project, parent_task_id: task_id, effort: 3 });
  }, 120_000);

  it('requests and the record of the document have it', async () => {
    const { components, paths } = (await send('GET', '/openapi.json')) as {
      components: { schemas: Record<string, { properties: object }> };
      paths: Record<string, { get: { responses: Record<string, { content: Record<string, { example: object }> }> } }>;
    };
    for (const name of ['CreateTask', 'UpdateTask', 'Task', 'TaskTree'])
      expect(components.schemas[name]?.properties).toHaveProperty('effort');
    const example = paths['/api/tasks/{task_id}']?.get.responses['200']?.content['application/json']?.example;
    expect(example).toMatchObject({ effort: null, subtasks: [{ effort: null }] });
  });

  it('a task is created and changed with it, and the change says so', async () => {
    expect(await send('GET', `/tasks/${task_id}`)).toMatchObject({ effort: 5, subtasks: [{ effort: 3 }] });
    await send('PATCH', `/tasks/${task_id}`, { effort: 8 });
    const changes = { effort: { from: 5, to: 8 } };
    expect(await send('GET', `/tasks/${task_id}`)).toMatchObject({ effort: 8 });
    expect(await send('GET', `/activity?entity_id=${task_id}&limit=1`)).toMatchObject([{ changes }]);
    const entry = await app.services.db('audit_entries').where({ entity_id: task_id, action: 'update' }).first();
    expect(JSON.parse((entry as { details: string }).details)).toMatchObject({ changes });
  });

  it('a view sorts by it', async () => {
    const view = { name: 'By effort', entity_type: 'task', sort: [{ field: 'effort', direction: 'desc' }] };
    const { view_id } = (await send('POST', '/saved-views', view)) as { view_id: string };
    const found = (await send('GET', `/saved-views/${view_id}/results`)) as unknown as { title: string }[];
    expect(found.map(({ title }) => title)).toEqual(['it', 'below']);
  });

  it('an export has it', async () => {
    const wanted = { team_id: team.team_id, format: 'csv', entities: ['tasks'] };
    const { job_id } = (await send('POST', '/bulk/export', wanted)) as { job_id: string };
    await until(async () => (await send('GET', `/bulk/jobs/${job_id}`))['status'] === 'succeeded');
    const { text } = (await send('GET', `/bulk/jobs/${job_id}/download`)) as { text: string };
    const [header = '', ...lines] = text.trim().split('\r\n');
    expect(header).toMatch(/,effort,fields$/);
    const cells = lines.filter((line) => line.startsWith('task,')).map((line) => /,(\d+),[^,]*$/.exec(line)?.[1]);
    expect(new Set(cells)).toEqual(new Set(['3', '8']));
  });

  it('the next occurrence and the copies of its subtasks have it', async () => {
    await send('PATCH', `/tasks/${task_id}`, { status: 'done' });
    const next = await until(() => app.services.db('tasks').where({ recurrence_of: task_id }).first());
    expect(await send('GET', `/tasks/${(next as { task_id: string }).task_id}`)).toMatchObject({
      effort: 8,
      subtasks: [{ title: 'below', effort: 3 }],
    });
  }, 120_000);
});
