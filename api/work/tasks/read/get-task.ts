import type { Knex } from 'knex';
import { run, type Statement } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { createRowLoader } from '../../../platform/database/batching/batch-loader.js';
import type { Etag } from '../../../platform/endpoint/etags.js';
import { taskEtag } from './etags.js';
import { type TaskNode, writeTree } from './nesting.js';
import { MEMBER_BYTES } from './task-columns.js';
import { MAX_ROWS, getTasksStatement, getTasksWithFieldsStatement } from './get-task.sql.js';

interface Row extends TaskNode, Record<string, unknown> {
  place: number;
  seat: Seat | null;
  version: number;
  plain: boolean;
  json: string | null;
}
type ReadRow = Row & { json: string };

interface TaskReadRequest {
  taskId: string;
  userId: string;
}

async function readTrees(db: Knex, wanted: TaskReadRequest[], statement: Statement): Promise<Row[][]> {
  const values = [wanted.map(({ taskId }) => taskId), wanted.map(({ userId }) => userId)];
  const rows = await run<Row>(db, statement, values);
  // One tree is large, so a limit may have cut the others.
  if ((rows.length === MAX_ROWS || rows.some(({ json }) => json === null)) && wanted.length > 1)
    return Promise.all(wanted.map(async (one) => (await readTrees(db, [one], statement))[0] ?? []));
  const found = wanted.map((): Row[] => []);
  for (const row of rows) found[row.place]?.push(row);
  return found;
}

/** Batches concurrent reads into one query; each caller sees data no older than its request. */
const createLoader = (statement: Statement) =>
  createRowLoader((db: Knex, wanted: TaskReadRequest[]) => readTrees(db, wanted, statement));
const loadRows = createLoader(getTasksStatement);
const loadRowsWithFields = createLoader(getTasksWithFieldsStatement);

/** Returns the first rows whose answer has at most this size: at least the task itself. */
function withinBytes(rows: Row[], maxBytes: number): ReadRow[] {
  let bytes = 0;
  const fits = ({ json }: Row) => json !== null && (bytes += Buffer.byteLength(json) + MEMBER_BYTES) <= maxBytes;
  const end = rows.findIndex((row, at) => !fits(row) && at > 0);
  return (end === -1 ? rows : rows.slice(0, end)) as ReadRow[];
}

export interface TaskAnswer {
  json: string;
  etag: Etag;
  /** The tree has more tasks than the 10,000, or 10 MB, shown. */
  truncated: boolean;
}

/**
 * Returns one live task with its `subtasks` tree as JSON text, and its tag: at most 10,000 tasks and 10 MB, level by level. `withFields`: each record has
 * the values of its custom fields, which no version covers.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function getTask(ctx: Context, taskId: string, withFields = false): Promise<TaskAnswer> {
  const rows = await (withFields ? loadRowsWithFields : loadRows)(ctx.db, { taskId, userId: requireUser(ctx) });
  const [task] = rows;
  if (!task) throw notFound('Task');
  authorize('task.read', task.seat);
  const shown = withinBytes(rows.length === MAX_ROWS ? rows.slice(0, -1) : rows, ctx.config.LIST_MAX_BYTES);
  const truncated = shown.length < rows.length;
  const json = writeTree(shown).slice(1, -1);
  const isCovered = rows.length === 1 && task.plain && !withFields;
  return { json, etag: taskEtag(task.version, isCovered ? undefined : json), truncated };
}
