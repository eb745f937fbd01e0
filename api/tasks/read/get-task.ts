import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { createRowLoader } from '../../core/batching/batch-loader.js';
import { type Etag, taskEtag } from './etags.js';
import { MAX_TASKS } from './list-tasks.sql.js';
import { type TaskNode, writeTree } from './nesting.js';

/** Row limit of one query: a task, its maximum of descendants, and one more row that reveals a larger tree. */
const MAX_ROWS = MAX_TASKS + 2;

/**
 * $1 = task ids, $2 = caller id of each. Returns each task and its live descendants; `place` is the position in $1. The index
 * returns siblings in order, so nothing is sorted. Rows come level by level, so the limit cuts the deepest. `plain`: the record
 * shows nothing that the version does not cover.
 */
const statement: Statement = {
  name: 'get_tasks',
  text: /* sql */ `
    with recursive tree as (
      select wanted.place::int, wanted.user_id, true as top, t
      from unnest((select $1::text[]), (select $2::uuid[])) with ordinality as wanted(task_id, user_id, place)
      cross join lateral (select t from tasks t where t.task_id = wanted.task_id and t.deleted_at is null limit 1) found
      union all
      select tree.place, tree.user_id, false, below.c from tree cross join lateral (
        select c from tasks c where c.parent_task_id = (tree.t).task_id and c.deleted_at is null
        order by c.position nulls last, c.created_at, c.task_id
      ) below
    )
    select place - 1 as place, (select m.role from memberships m where m.team_id = (t).team_id and m.user_id = tree.user_id) as seat,
      (t).task_id, case when top then null else (t).parent_task_id end as parent_task_id, (t).version,
      (t).forge_links = '[]' and (t).recurrence_of is null as plain, task_json(t)::text as json
    from tree limit ${MAX_ROWS}`,
};

interface Row extends TaskNode, Record<string, unknown> {
  place: number;
  seat: Seat | null;
  version: number;
  plain: boolean;
  json: string;
}

interface TaskReadRequest {
  taskId: string;
  userId: string;
}

async function readTrees(db: Knex, wanted: TaskReadRequest[]): Promise<Row[][]> {
  const values = [wanted.map(({ taskId }) => taskId), wanted.map(({ userId }) => userId)];
  const rows = await run<Row>(db, statement, values);
  // One tree is large, so the limit may have cut the others.
  if (rows.length === MAX_ROWS && wanted.length > 1)
    return Promise.all(wanted.map(async (one) => (await readTrees(db, [one]))[0] ?? []));
  const found = wanted.map((): Row[] => []);
  for (const row of rows) found[row.place]?.push(row);
  return found;
}

/** Batches concurrent reads into one query; each caller sees data no older than its request. */
const rowsOf = createRowLoader(readTrees);

export interface TaskAnswer {
  json: string;
  etag: Etag;
  /** The tree has more tasks than the 10,000 shown. */
  truncated: boolean;
}

/**
 * Returns one live task with its `subtasks` tree as JSON text, and its tag: at most 10,000 tasks, level by level.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function getTask(ctx: Context, taskId: string): Promise<TaskAnswer> {
  const rows = await rowsOf(ctx.db, { taskId, userId: userOf(ctx) });
  const [task] = rows;
  if (!task) throw notFound('Task');
  authorize('task.read', task.seat);
  const truncated = rows.length === MAX_ROWS;
  const json = writeTree(truncated ? rows.slice(0, -1) : rows).slice(1, -1);
  return { json, etag: taskEtag(task.version, rows.length === 1 && task.plain ? undefined : json), truncated };
}
