import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { createRowLoader } from '../../core/batching/batch-loader.js';
import type { Etag } from '../../endpoint/etags.js';
import { taskEtag } from './etags.js';
import { type TaskNode, writeTree } from './nesting.js';
import { MAX_ROWS, getTasksStatement } from './get-task.sql.js';

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
  const rows = await run<Row>(db, getTasksStatement, values);
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
