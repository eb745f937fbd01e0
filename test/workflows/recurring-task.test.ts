import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { taskQueue } from '../../workflows/contracts/queues.js';
import { RECURRING_TASK, seriesWorkflowId } from '../../workflows/contracts/series-contract.js';
import { buildAutomation, setStatus } from '../factories/automations.js';
import { send } from '../api/integrations/forge/deliver.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { captureStatements } from '../support/statements.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

let app: TestApp;
let worker: RunningWorker;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, 10_000);
  worker = await runWorker(app);
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await connection.close();
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const WEEKLY = { rule: 'FREQ=WEEKLY', mode: 'on_complete', timezone: 'Europe/Berlin' };
const DAY_MS = 86_400_000;
const db = () => app.services.db;
const member = () => app.as(team.member);

interface Recurring {
  task_id: string;
  series_id: string;
}
const build = async (fields: Record<string, unknown> = {}): Promise<Recurring> =>
  (await buildTask(app, team, project, { due_date: '2026-01-05', recurrence: WEEKLY, ...fields })) as unknown as Recurring;
const done = async (task_id: string) => {
  const { status } = await member().patch(`/api/tasks/${task_id}/status`, { status: 'done' });
  expect(status).toBe(200);
};
/** Rows of a series, in order. */
const occurrences = ({ series_id }: Recurring) => db()('tasks').where({ series_id }).orderBy('occurrence_index');
const occurrence = ({ series_id }: Recurring, occurrence_index: number) =>
  until(() => db()('tasks').where({ series_id, occurrence_index }).first());
const findSeries = ({ series_id }: Recurring) => db()('task_series').where({ series_id }).first();
const ended = (task: Recurring) => until(async () => (await findSeries(task)).ended_at && (await findSeries(task)));
const findHandle = ({ series_id }: Recurring) => temporal.workflow.getHandle(seriesWorkflowId(series_id));
/** Everything that was handed over so far has been worked on, and nothing more came of it. */
const settled = async (...tasks: Recurring[]) => {
  await until(async () => (await db()('outbox').where('kind', 'like', 'series.%')).length === 0);
  for (const { series_id } of tasks) {
    await until(async () => {
      const { status } = await findHandle({ series_id } as Recurring).describe();
      return status.name !== 'UNSPECIFIED';
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 250));
};

it('done makes the next occurrence, with everything that passes on, and the edge to the last', async () => {
  const parent = await buildTask(app, team, project, { title: 'Parent' });
  const task = await build({
    title: 'Review',
    description: 'Look at it',
    assigned_to: team.manager.user_id,
    priority: 'high',
    tags: ['a', 'b'],
    estimated_hours: 1.5,
    parent_task_id: parent.task_id,
  });
  await member().patch(`/api/tasks/${task.task_id}`, { position: 7, actual_hours: 3 });
  const child = await buildTask(app, team, project, {
    title: 'Child',
    parent_task_id: task.task_id,
    due_date: '2026-01-04',
    status: 'done',
  });
  await buildTask(app, team, project, { title: 'Grandchild', parent_task_id: child.task_id, tags: ['c'] });
  const gone = await buildTask(app, team, project, { title: 'Gone', parent_task_id: task.task_id });
  await member().delete(`/api/tasks/${gone.task_id}`);
  await done(task.task_id);

  const { task_id } = await occurrence(task, 2);
  const { body } = await member().get(`/api/tasks/${task_id}`);
  expect(body).toMatchObject({
    title: 'Review',
    description: 'Look at it',
    assigned_to: team.manager.user_id,
    priority: 'high',
    tags: ['a', 'b'],
    estimated_hours: 1.5,
    actual_hours: 0,
    parent_task_id: parent.task_id,
    position: 7,
    status: 'todo',
    due_date: '2026-01-12',
    completed_at: null,
    created_by: team.member.user_id,
    recurrence: { ...WEEKLY, until: null, count: null },
    series_id: task.series_id,
    occurrence_index: 2,
    recurrence_of: task.task_id,
    version: 1,
  });
  expect(body.subtasks).toHaveLength(1);
  expect(body.subtasks[0]).toMatchObject({
    title: 'Child',
    status: 'todo',
    due_date: '2026-01-11',
    recurrence: null,
    series_id: null,
  });
  expect(body.subtasks[0].subtasks).toMatchObject([{ title: 'Grandchild', status: 'todo', tags: ['c'] }]);
});

it('the successor leaves the traces of any task, in its creator’s name and under the id of what caused it', async () => {
  const task = await build();
  const answer = await app.as(team.manager).patch(`/api/tasks/${task.task_id}/status`, { status: 'done' });
  const { task_id } = await occurrence(task, 2);
  const [entry] = await db()('audit_entries').where({ entity_id: task_id });
  expect(entry).toMatchObject({
    action: 'create',
    actor_type: 'system',
    user_id: team.member.user_id,
    correlation_id: answer.headers.get('x-correlation-id'),
    user_agent: `recurring series ${task.series_id}`,
  });
  expect(await db()('activity').where({ entity_id: task_id })).toMatchObject([{ action: 'create', summary: 'created the task' }]);
});

/** Subtasks in one statement, behind the product's back: `count` below the task, and one below each of them. */
const plantSubtasks = (task: Recurring, count: number, due: string | null = null) =>
  db().raw(
    /* sql */ `
    with given as (
      select i, uuidv7()::text as id, uuidv7()::text as below from generate_series(1, :count::int) i
    ), keys as (
      insert into item_keys select id, 'task' from given union all select below, 'task' from given
    )
    insert into tasks (task_id, parent_task_id, project_id, team_id, created_by, title, position, due_date, tags)
    select c.id, c.parent, t.project_id, t.team_id, t.created_by, c.title, c.i, :due, '{planted}'
    from tasks t, given g, lateral (values (g.id, t.task_id, 'No. ' || g.i, g.i), (g.below, g.id, 'Below ' || g.i, g.i)) as c(id, parent, title, i)
    where t.task_id = :task_id`,
    { task_id: task.task_id, count, due },
  );

/** Returns the titles of a task's subtasks in order, each with those below it. */
const below = async (task_id: string): Promise<[string, string[]][]> => {
  const titles = (parent: string) =>
    db()('tasks').where({ parent_task_id: parent }).orderBy(['position', 'created_at']).select('task_id', 'title');
  const rows = await titles(task_id);
  return Promise.all(rows.map(async (row) => [row.title, (await titles(row.task_id)).map(({ title }) => title)]));
};

it('the subtasks are copied by one statement, each with its traces', async () => {
  const task = await build();
  await plantSubtasks(task, 30, '2026-01-06');
  let successor = { task_id: '' };
  const sent = await captureStatements(async () => {
    await done(task.task_id);
    successor = await occurrence(task, 2);
  });
  const names = sent.map(({ name }) => name);
  expect(names.filter((name) => name === 'copy_subtasks')).toHaveLength(1);
  expect(names.filter((name) => name.startsWith('create_'))).toHaveLength(1);
  expect(await below(successor.task_id)).toEqual(await below(task.task_id));
  const copies = await db()('tasks').where({ project_id: project.project_id, due_date: '2026-01-13' });
  expect(copies).toHaveLength(60);
  const ids = copies.map(({ task_id }) => task_id);
  for (const table of ['audit_entries', 'activity']) {
    expect(await db()(table).whereIn('entity_id', ids).where({ action: 'create', user_id: team.member.user_id })).toHaveLength(
      60,
    );
  }
  expect(copies[0]).toMatchObject({
    tags: ['planted'],
    status: 'todo',
    created_by: team.member.user_id,
    recurrence: null,
    version: 1,
  });
});

it('a task with too many below it cannot be made to recur', async () => {
  const plain = (await buildTask(app, team, project)) as unknown as Recurring;
  await plantSubtasks(plain, 500);
  const path = `/api/tasks/${plain.task_id}`;
  const refused = await member().patch(path, { recurrence: WEEKLY, title: 'x' });
  expect([refused.status, refused.body.error_code, refused.body.message]).toEqual([
    400,
    'INVALID_REQUEST',
    'A task with more than 999 descendants cannot recur',
  ]);
  expect(await db()('tasks').where({ task_id: plain.task_id }).first()).toMatchObject({ version: 1, recurrence: null });
  // A stranger learns nothing of what is below it.
  expect((await app.as(await buildPerson(app)).patch(path, { recurrence: WEEKLY })).status).toBe(403);
  await db()('tasks').where({ parent_task_id: plain.task_id, title: 'No. 500' }).update({ deleted_at: db().fn.now() });
  expect((await member().patch(path, { recurrence: WEEKLY })).status).toBe(200);
});

it('a tree that has grown to thousands is copied up to its limit, level after level, and the activity says so', async () => {
  const task = await build();
  await plantSubtasks(task, 2_000);
  // What recurs already may be written again.
  expect((await member().patch(`/api/tasks/${task.task_id}`, { recurrence: WEEKLY, title: 'Large' })).status).toBe(200);
  await done(task.task_id);
  const { task_id } = await occurrence(task, 2);
  expect(await below(task_id)).toEqual(Array.from({ length: 999 }, (_, nth) => [`No. ${nth + 1}`, []]));
  const lines = await db()('activity').where({ entity_id: task_id }).orderBy('activity_id').pluck('summary');
  expect(lines).toEqual([
    'created the task',
    'copied the first 1,000 tasks of a larger recurring task; the others were left out',
  ]);
});

it('20 at once, and again after it was opened: one successor', async () => {
  const task = await build();
  const doors = Array.from({ length: 20 }, (_, i) => {
    const path = `/api/tasks/${task.task_id}`;
    const by = app.as(i % 2 ? team.member : team.manager);
    return i % 4 < 2
      ? by.patch(`${path}/status`, { status: 'done' })
      : by[i % 4 === 2 ? 'patch' : 'put'](path, { status: 'done' });
  });
  for (const { status } of await Promise.all(doors)) expect(status).toBe(200);
  await occurrence(task, 2);
  for (const status of ['todo', 'done', 'in_review', 'done'])
    await member().patch(`/api/tasks/${task.task_id}/status`, { status });
  await settled(task);
  expect(await occurrences(task)).toHaveLength(2);
});

it('whatever route completes it', async () => {
  const doors: Record<string, (id: string) => Promise<unknown>> = {
    status: (id) => member().put(`/api/tasks/${id}/status`, { status: 'done' }),
    patch: (id) => member().patch(`/api/tasks/${id}`, { status: 'Done', title: 'Changed too' }),
    put: (id) => member().put(`/api/tasks/${id}`, { status: 'done' }),
    move: async (id) => member().patch(`/api/tasks/${id}`, { ...(await buildProject(app, team)), status: 'done' }),
    // Any statement at all, so also those that are not written yet.
    statement: (id) => db()('tasks').where({ task_id: id }).update({ status: 'done', completed_at: db().fn.now() }),
  };
  for (const open of Object.values(doors)) {
    const task = await build();
    await open(task.task_id);
    app.services.notifyRelay();
    await occurrence(task, 2);
  }
  const born = await build({ status: 'done' });
  await occurrence(born, 2);
  const item = { title: 'One of many', ...project, due_date: '2026-01-05', recurrence: WEEKLY };
  const bulk = await member().post('/api/tasks/bulk', [item, { ...item, status: 'done' }, { ...item, status: 'done' }]);
  const [open, ...finished] = (bulk.body.results as { data: Recurring }[]).map(({ data }) => data);
  for (const each of finished) await occurrence(each, 2);
  expect(await occurrences(open as Recurring)).toHaveLength(1);
  const late = await buildTask(app, team, project, { due_date: '2026-01-05', status: 'done' });
  await member().patch(`/api/tasks/${late.task_id}`, { recurrence: WEEKLY });
  const { series_id } = await db()('tasks').where({ task_id: late.task_id }).first();
  await occurrence({ task_id: late.task_id, series_id }, 2);
});

it('a closed issue of the forge sets it done too', async () => {
  const repo = 'codertocat/hello-world';
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id, ...project, sync_issues: true });
  const task = await build();
  await db()('forge_links').insert({ task_id: task.task_id, repo, kind: 'issue', number: 1 });
  expect((await send(app, 'issues.closed', { 'repository.full_name': repo, 'issue.number': 1 })).status).toBe(200);
  await occurrence(task, 2);
});

it('an automation that completes what recurs goes on to its depth and stops', async () => {
  await buildAutomation(app, team, { condition: 'task.recurrence != null', actions: [setStatus('done')] });
  const task = await build({ recurrence: { ...WEEKLY, rule: 'FREQ=DAILY' } });
  await until(async () => (await skippedRuns(app, { team_id: team.team_id })).some(({ is_loop }) => is_loop));
  await settled(task);
  const rows = await occurrences(task);
  expect(rows).toHaveLength(12);
  expect(rows.at(-1).status).toBe('todo');
  expect(new Set(rows.map((row) => row.due_date)).size).toBe(12);
});

it('a worker that dies between done and the successor loses nothing and doubles nothing', async () => {
  const task = await build();
  await settled(task);
  await worker.stop();
  try {
    await done(task.task_id);
    expect(await occurrences(task)).toHaveLength(1);
    expect(await db()('outbox').where({ kind: 'series.completed', subject: task.series_id })).toHaveLength(1);
  } finally {
    worker = await runWorker(app);
  }
  await occurrence(task, 2);
  await settled(task);
  expect(await occurrences(task)).toHaveLength(2);
});

it('a worker killed in the middle of making the successor leaves nothing half done', async () => {
  const task = await build();
  await buildTask(app, team, project, { parent_task_id: task.task_id });
  await settled(task);
  const stopped = await db().transaction();
  await stopped.raw('select from projects where project_id = ? for update', [project.project_id]);
  await done(task.task_id);
  const ofWorker = "from pg_stat_activity where application_name = 'assent-worker' and datname = current_database()";
  await until(async () => (await db().raw<{ rowCount: number }>(`select ${ofWorker} and wait_event_type = 'Lock'`)).rowCount > 0);
  await db().raw(`select pg_terminate_backend(pid) ${ofWorker}`);
  await stopped.rollback();
  const { task_id } = await occurrence(task, 2);
  await settled(task);
  expect(await occurrences(task)).toHaveLength(2);
  expect(await db()('tasks').where({ parent_task_id: task_id })).toHaveLength(1);
});

it('COUNT ends it, visibly; a larger count takes it up again', async () => {
  const task = await build({ recurrence: { ...WEEKLY, rule: 'FREQ=WEEKLY;COUNT=2' } });
  await done(task.task_id);
  const { task_id } = await occurrence(task, 2);
  await done(task_id);
  expect(await ended(task)).toMatchObject({ end_reason: 'count' });
  expect(await findHandle(task).result()).toMatch(/^ended: that was the last/);
  expect(await db()('activity').where({ entity_id: task_id, action: 'end_series' })).toHaveLength(1);
  expect(await db()('audit_entries').where({ entity_id: task_id, action: 'end_series' })).toHaveLength(1);
  await member().patch(`/api/tasks/${task_id}`, { recurrence: { ...WEEKLY, count: 3 } });
  expect(await occurrence(task, 3)).toMatchObject({ due_date: '2026-01-19' });
});

it('UNTIL ends it', async () => {
  const task = await build({ recurrence: { ...WEEKLY, until: '2026-01-12' } });
  await done(task.task_id);
  await done((await occurrence(task, 2)).task_id);
  expect(await ended(task)).toMatchObject({ end_reason: 'until' });
  expect(await occurrences(task)).toHaveLength(2);
});

it('null ends it, on any occurrence; the newest one shows it', async () => {
  const task = await build();
  await done(task.task_id);
  const { task_id } = await occurrence(task, 2);
  expect((await member().patch(`/api/tasks/${task.task_id}`, { recurrence: null })).status).toBe(200);
  expect(await ended(task)).toMatchObject({ end_reason: 'cancelled' });
  expect(await findHandle(task).result()).toMatch(/taken away/);
  const { body } = await member().get(`/api/tasks/${task_id}`);
  expect(body).toMatchObject({ recurrence: null, series_id: task.series_id, occurrence_index: 2, version: 2 });
  await done(task_id);
  await settled();
  expect(await occurrences(task)).toHaveLength(2);
  await member().patch(`/api/tasks/${task_id}`, { recurrence: WEEKLY });
  await occurrence(task, 3);
});

it('a changed rule holds for what follows, and counts from the present date', async () => {
  const task = await build({ due_date: '2026-01-31', recurrence: { ...WEEKLY, rule: 'FREQ=MONTHLY' } });
  await done(task.task_id);
  const second = await occurrence(task, 2);
  expect(second.due_date).toBe('2026-02-28');
  await done(second.task_id);
  const third = await occurrence(task, 3);
  expect(third.due_date).toBe('2026-03-31');
  await member().patch(`/api/tasks/${third.task_id}`, { recurrence: { ...WEEKLY, rule: 'FREQ=DAILY;INTERVAL=10' } });
  await done(third.task_id);
  expect((await occurrence(task, 4)).due_date).toBe('2026-04-10');
});

it('a moved first occurrence moves the series; a later one only itself', async () => {
  const task = await build();
  await member().patch(`/api/tasks/${task.task_id}`, { due_date: '2026-01-07' });
  await done(task.task_id);
  const second = await occurrence(task, 2);
  expect(second.due_date).toBe('2026-01-14');
  await member().patch(`/api/tasks/${second.task_id}`, { due_date: '2026-01-16' });
  await done(second.task_id);
  expect((await occurrence(task, 3)).due_date).toBe('2026-01-21');
});

it('without a due date it counts from the completion', async () => {
  const task = await build({ due_date: null, recurrence: { ...WEEKLY, rule: 'FREQ=DAILY;INTERVAL=3', timezone: 'UTC' } });
  await db()('tasks').where({ task_id: task.task_id }).update({ status: 'done', completed_at: '2026-03-30T23:30:00Z' });
  app.services.notifyRelay();
  expect((await occurrence(task, 2)).due_date).toBe('2026-04-02');
});

it('in the trash it rests: no successor until it is restored; purged, the series ends', async () => {
  const task = await build();
  await settled(task);
  await worker.stop();
  try {
    await done(task.task_id);
    await member().delete(`/api/tasks/${task.task_id}`);
  } finally {
    worker = await runWorker(app);
  }
  await settled(task);
  expect(await occurrences(task)).toHaveLength(1);
  await member().post(`/api/trash/task/${task.task_id}/restore`);
  const { task_id } = await occurrence(task, 2);
  await member().delete(`/api/tasks/${task_id}`);
  await db()('tasks').where({ task_id }).delete();
  app.services.notifyRelay();
  expect(await ended(task)).toMatchObject({ end_reason: 'purged', last_task_id: null });
});

it('the successor of a moved task is where it was moved to', async () => {
  const other = await buildProject(app, team);
  const task = await build();
  expect((await member().patch(`/api/tasks/${task.task_id}`, other)).status).toBe(200);
  await done(task.task_id);
  expect(await occurrence(task, 2)).toMatchObject(other);
});

it('drops a former assignee; a former creator passes the series to the user who completed the last task', async () => {
  const task = await build({ assigned_to: team.manager.user_id });
  await done(task.task_id);
  const { task_id } = await occurrence(task, 2);
  const leave = (user_id: string) => db()('memberships').where({ team_id: team.team_id, user_id }).delete();
  await leave(team.manager.user_id);
  await leave(team.member.user_id);
  expect((await app.as(team.admin).patch(`/api/tasks/${task_id}/status`, { status: 'done' })).status).toBe(200);
  expect(await occurrence(task, 3)).toMatchObject({ assigned_to: null, created_by: team.admin.user_id });
  expect(await findSeries(task)).toMatchObject({ created_by: team.admin.user_id });
});

it('is blocked visibly while no member may write, and resumes when one may', async () => {
  const task = await build();
  await settled(task);
  await worker.stop();
  try {
    await done(task.task_id);
    await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).update({ role: 'guest' });
  } finally {
    worker = await runWorker(app);
  }
  await until(async () => (await findSeries(task)).blocked_reason);
  expect(await db()('audit_entries').where({ entity_id: task.task_id, action: 'block_series', outcome: 'denied' })).toHaveLength(
    1,
  );
  await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).update({ role: 'member' });
  await findHandle(task).signal('ruleChanged');
  await occurrence(task, 2);
  expect(await findSeries(task)).toMatchObject({ blocked_reason: null });
});

it('on a schedule the next comes when its time comes, done or not', async () => {
  const first = new Date(Date.now() - DAY_MS + 1_500);
  const recurrence = { rule: 'FREQ=DAILY', mode: 'on_schedule', timezone: 'UTC' };
  const task = await build({ due_date: first.toISOString(), recurrence });
  await until(async () => (await findSeries(task)).next_at);
  const second = await occurrence(task, 2);
  expect(second).toMatchObject({ due_date: new Date(first.getTime() + DAY_MS).toISOString(), status: 'todo' });
  expect((await occurrences(task))[0].status).toBe('todo');
  // Not before, however long this test took to look.
  expect(second.created_at.getTime()).toBeGreaterThanOrEqual(first.getTime() + DAY_MS);
  // Done before its time: the next is there at once, and the timer makes no other.
  await done(second.task_id);
  await occurrence(task, 3);
  await settled(task);
  expect(await occurrences(task)).toHaveLength(3);
});

it('a due date that is moved moves the timer; what went by unnoticed is made up for once', async () => {
  const recurrence = { rule: 'FREQ=DAILY', mode: 'on_schedule', timezone: 'UTC' };
  const task = await build({ due_date: new Date(Date.now() + DAY_MS).toISOString(), recurrence });
  await until(async () => (await findSeries(task)).next_at);
  await member().patch(`/api/tasks/${task.task_id}`, { due_date: new Date(Date.now() - 10.5 * DAY_MS).toISOString() });
  const second = await occurrence(task, 2);
  expect(Date.parse(second.due_date)).toBeGreaterThan(Date.now() - DAY_MS);
  await settled(task);
  expect(await occurrences(task)).toHaveLength(2);
});

it('is there to be seen in Temporal', async () => {
  const task = await build({ due_date: '2099-01-31', recurrence: { ...WEEKLY, rule: 'FREQ=MONTHLY', mode: 'on_schedule' } });
  await until(async () => (await findSeries(task)).next_at);
  const handle = findHandle(task);
  const details = await until(async () => {
    const { userMetadata } = (await handle.describe()).raw.executionConfig ?? {};
    return userMetadata?.summary?.data && Buffer.from(userMetadata.summary.data).toString();
  });
  expect(details).toBe('"Every month, done or not (Europe/Berlin)"');
  await until(async () => {
    const { typedSearchAttributes } = await handle.describe();
    const found = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    expect(found).toMatchObject({ Process: 'recurring_task', TeamId: team.team_id, ActorId: team.member.user_id });
    return (
      found['EntityId'] === task.task_id &&
      (found['NextAttemptAt'] as Date | undefined)?.toISOString() === '2099-02-27T23:00:00.000Z'
    );
  });
  const text = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(text.currentDetails).toMatch(/^### `FREQ=MONTHLY` in Europe\/Berlin, on schedule\n\nWaiting until 2099-02-27 23:00 UTC/);
});

it('a series whose workflow was lost is started again', async () => {
  const task = await build();
  await settled(task);
  await findHandle(task).terminate('lost');
  await until(async () => (await worker.reconcile()) >= 0 && (await findHandle(task).describe()).status.name === 'RUNNING');
  await done(task.task_id);
  await occurrence(task, 2);
});

it('its history starts anew and nothing is missed', async () => {
  const task = await build();
  await settled(task);
  await findHandle(task).terminate('for a shorter one');
  await temporal.workflow.start(RECURRING_TASK, {
    workflowId: seriesWorkflowId(task.series_id),
    taskQueue: taskQueue(app.services.config.TASK_QUEUE_PREFIX, 'core'),
    args: [{ seriesId: task.series_id, rounds: 2 }],
  });
  for (let index = 1; index <= 5; index += 1) await done((await occurrence(task, index)).task_id);
  await occurrence(task, 6);
  const { runId } = await findHandle(task).describe();
  expect(runId).not.toBe(
    (await findHandle(task).fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId,
  );
  expect(await occurrences(task)).toHaveLength(6);
});

it('refuses a recurrence that is none with 422, and stores nothing', async () => {
  for (const recurrence of [
    { ...WEEKLY, rule: 'FREQ=HOURLY' },
    { ...WEEKLY, timezone: 'Moon' },
    { rule: 'FREQ=DAILY' },
    'FREQ=DAILY',
    [],
  ]) {
    const made = await member().post('/api/tasks', { title: 'No', ...project, recurrence });
    expect(made).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_ERROR' } });
    expect(made.body.detail.errors[0].field).toMatch(/^body\.recurrence/);
  }
  const task = await buildTask(app, team, project);
  const patched = await member().patch(`/api/tasks/${task.task_id}`, {
    recurrence: { ...WEEKLY, rule: 'FREQ=DAILY;INTERVAL=100' },
  });
  expect(patched.status).toBe(422);
  expect(await db()('task_series').where({ team_id: team.team_id })).toEqual([]);
});

it('sending back what was read changes nothing', async () => {
  const task = await build({ recurrence: { ...WEEKLY, rule: 'FREQ=WEEKLY;COUNT=9' } });
  const { body, headers } = await member().get(`/api/tasks/${task.task_id}`);
  const again = await member().put(`/api/tasks/${task.task_id}`, { recurrence: body.recurrence });
  expect(again.headers.get('etag')).toBe(headers.get('etag'));
});
