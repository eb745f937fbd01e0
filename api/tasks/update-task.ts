import { run } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, inTransaction, retrying, whoIs } from '../core/context.js';
import { dateField } from '../core/dates.js';
import { invalid, notFound } from '../core/errors.js';
import { holdPlace } from './hold-place.js';
import { moveSubtasks } from './move-subtasks.js';
import type { UpdateTask } from './schema.js';
import { staleVersion } from './stale-version.js';
import { updateTaskStatement } from './update-task.sql.js';

interface Outcome {
  seat: Seat | null;
  stale: boolean;
  assignee_ok: boolean;
  version: number;
}

type Fields = Omit<UpdateTask, 'version'>;

/** One statement: the hot path. Returns the version after it. @throws what `updateTask` says */
async function write(ctx: Context, taskId: string, fields: Fields, version: number | null): Promise<number> {
  const values = [JSON.stringify(whoIs(ctx)), taskId, JSON.stringify(fields), version];
  const [outcome] = await retrying(ctx, () => run<Outcome & Record<string, unknown>>(ctx.db, updateTaskStatement, values));
  if (!outcome) throw notFound('Task');
  authorize('task.write', outcome.seat);
  if (version !== null && outcome.stale) throw await staleVersion(ctx, taskId, version, outcome.version);
  if (!outcome.assignee_ok) throw invalid('assigned_to must be a member of the project’s team');
  return outcome.version;
}

/**
 * Changes the fields present and raises `version` by one; with `version`, only if the row still has it. Another project takes
 * the subtasks along. Returns the version after it: unchanged when nothing changed (C3).
 * @throws RESOURCE_NOT_FOUND no live task, project or parent | PERMISSION_DENIED stranger or guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST due date, assignee, parent, or a project of another team
 * Source: contract, section 4, tasks rules 2 to 4.
 */
export async function updateTask(
  ctx: Context,
  taskId: string,
  { version = null, project_id, parent_task_id, ...fields }: UpdateTask,
): Promise<number> {
  const patch = { ...fields, due_date: dateField('due_date', fields.due_date), tags: fields.tags === null ? [] : fields.tags };
  if (project_id === undefined && parent_task_id === undefined) {
    const after = await write(ctx, taskId, patch, version);
    ctx.ring();
    return after;
  }
  return inTransaction(ctx, async (ctx) => {
    const place = await holdPlace(ctx, taskId, { project_id, parent_task_id }, version);
    const after = await write(ctx, taskId, { ...patch, ...place }, version);
    if (place.project_id !== undefined) await moveSubtasks(ctx, taskId, place.project_id);
    return after;
  });
}
