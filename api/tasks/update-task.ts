import { run } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, retrying, whoIs } from '../core/context.js';
import { dateField } from '../core/dates.js';
import { conflict, invalid, notFound } from '../core/errors.js';
import type { UpdateTask } from './schema.js';
import { updateTaskStatement } from './update-task.sql.js';

interface Outcome {
  seat: Seat | null;
  stale: boolean;
  assignee_ok: boolean;
  version: number;
}

/**
 * Changes the fields present and raises `version` by one; with `version`, only if the row still has it. Returns the version
 * after it: unchanged when nothing changed (C3).
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED stranger or guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST due date or assignee
 * Source: contract, section 4, tasks rules 2 to 4.
 */
export async function updateTask(ctx: Context, taskId: string, { version, ...fields }: UpdateTask): Promise<number> {
  const patch = { ...fields, due_date: dateField('due_date', fields.due_date), tags: fields.tags === null ? [] : fields.tags };
  const values = [JSON.stringify(whoIs(ctx)), taskId, JSON.stringify(patch), version ?? null];
  const [outcome] = await retrying(ctx, () => run<Outcome & Record<string, unknown>>(ctx.db, updateTaskStatement, values));
  if (!outcome) throw notFound('Task');
  authorize('task.write', outcome.seat);
  if (outcome.stale) throw conflict(`The task is at version ${outcome.version}, not ${version}`);
  if (!outcome.assignee_ok) throw invalid('assigned_to must be a member of the project’s team');
  ctx.ring();
  return outcome.version;
}
