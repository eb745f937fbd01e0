import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { createRowLoader } from '../../core/batching/batch-loader.js';
import type { Etag } from '../../endpoint/etags.js';
import { taskEtag } from './etags.js';
import { type TaskNode, writeTree } from './nesting.js';
import { MAX_ROWS, getTasksStatement, getTasksWithFieldsStatement } from './get-task.sql.js';

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

async function readTrees(db: Knex, wanted: TaskReadRequest[], statement: Statement): Promise<Row[][]> {
  const values = [wanted.map(({ taskId }) => taskId), wanted.map(({ userId }) => userId)];
  const rows = await run<Row>(db, statement, values);
  // One tree is large, so the limit may have cut the others.
  if (rows.length === MAX_ROWS && wanted.length > 1)
    return Promise.all(wanted.map(async (one) => (await readTrees(db, [one], statement))[0] ?? []));
  const found = wanted.map((): Row[] => []);
  for (const row of rows) found[row.place]?.push(row);
  return found;
}

/** Batches concurrent reads into one query; each caller sees data no older than its request. */
const loaderOf = (statement: Statement) =>
  createRowLoader((db: Knex, wanted: TaskReadRequest[]) => readTrees(db, wanted, statement));
const rowsOf = loaderOf(getTasksStatement);
const rowsWithFieldsOf = loaderOf(getTasksWithFieldsStatement);

export interface TaskAnswer {
  json: string;
  etag: Etag;
  /** The tree has more tasks than the 10,000 shown. */
  truncated: boolean;
}

/**
 * Returns one live task with its `subtasks` tree as JSON text, and its tag: at most 10,000 tasks, level by level. `withFields`: each record has
 * the values of its custom fields, which no version covers.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function getTask(ctx: Context, taskId: string, withFields = false): Promise<TaskAnswer> {
  const rows = await (withFields ? rowsWithFieldsOf : rowsOf)(ctx.db, { taskId, userId: userOf(ctx) });
  const [task] = rows;
  if (!task) throw notFound('Task');
  authorize('task.read', task.seat);
  const truncated = rows.length === MAX_ROWS;
  const json = writeTree(truncated ? rows.slice(0, -1) : rows).slice(1, -1);
  const isCovered = rows.length === 1 && task.plain && !withFields;
  return { json, etag: taskEtag(task.version, isCovered ? undefined : json), truncated };
}
