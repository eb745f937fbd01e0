import { defineStatement, run } from '../../../../db/statement.js';
import { checkCallerKind, authorize, type Seat, isAllowed, rolesFor } from '../../../platform/access/access.js';
import { type Context, inTransaction, withRetries, callerJson } from '../../../platform/context.js';
import { dateField } from '../../../platform/dates.js';
import { invalid, notFound } from '../../../platform/errors.js';
import { checkTreeSize } from '../recurrence/check-tree-size.js';
import type { Differences } from '../../../platform/changes/record-change.js';
import { coalesceWrites } from '../../../platform/database/batching/coalesce-writes.js';
import { misplacedResolution, type MisplacedStage, misplacedStage } from './misplaced-resolution.js';
import { lockMoveTarget } from './lock-move-target.js';
import { moveSubtasks } from './move-subtasks.js';
import type { UpdateTask } from '../schema.js';
import { staleVersion } from './stale-version.js';
import { updateTaskStatement, updateTasksStatement } from './update-task.sql.js';

interface Outcome extends Record<string, unknown> {
  task_id: string;
  seat: Seat | null;
  stale: boolean;
  assignee_ok: boolean;
  resolution_ok: boolean;
  /** Why the stage is refused; null if it is not. */
  misplaced: MisplacedStage | null;
  version: number;
  /** Whether outbox rows were written. */
  notify: boolean;
}

interface Change {
  taskId: string;
  fields: Omit<UpdateTask, 'version'>;
  /** Version that the caller has read; null accepts any. */
  version: number | null;
  /** Differences of what the transaction has written beside the row; null or absent if none. */
  beside?: Differences | null;
}

/** Converts a change to the statements' input. */
const buildInput = (ctx: Context, { taskId, fields, version, beside = null }: Change) => ({
  task_id: taskId,
  fields,
  version,
  beside,
  who: callerJson(ctx),
});

const passed = ({ seat, stale, assignee_ok, resolution_ok, misplaced }: Outcome): boolean =>
  isAllowed('task.write', seat) && !stale && assignee_ok && resolution_ok && misplaced === null;

/**
 * Waits for locks, and throws the reason if the change is rejected.
 * @throws the errors of `updateTask`
 */
async function writeAlone(ctx: Context, change: Change): Promise<number> {
  const { taskId, version } = change;
  const values = [JSON.stringify([buildInput(ctx, change)]), rolesFor('task.write')];
  const [outcome] = await withRetries(ctx, () => run<Outcome>(ctx.db, updateTaskStatement, values));
  if (!outcome) throw notFound('Task');
  if (outcome.notify) ctx.notifyRelay();
  authorize('task.write', outcome.seat);
  if (version !== null && outcome.stale) {
    throw await staleVersion(ctx, { type: 'task', id: taskId, expected: version, version: outcome.version });
  }
  if (!outcome.assignee_ok) throw invalid('assigned_to must be a member of the project’s team');
  if (!outcome.resolution_ok) throw misplacedResolution();
  if (outcome.misplaced) throw misplacedStage(outcome.misplaced);
  return outcome.version;
}

/**
 * Coalesces concurrent updates into one statement. Returns the version after the change.
 * @throws the errors of `updateTask`
 */
const write = coalesceWrites<Change, number>({
  getKey: ({ taskId }) => taskId,
  alone: writeAlone,
  async write(db, requests) {
    const values = [JSON.stringify(requests.map(({ ctx, item }) => buildInput(ctx, item))), rolesFor('task.write')];
    const outcomes = new Map((await run<Outcome>(db, updateTasksStatement, values)).map((outcome) => [outcome.task_id, outcome]));
    return requests.map(({ ctx, item }) => {
      const outcome = outcomes.get(item.taskId);
      if (outcome?.notify) ctx.notifyRelay();
      return outcome && passed(outcome) ? outcome.version : undefined;
    });
  },
});

/** $1 = task id. */
const lockStatement = defineStatement({ name: 'lock_task', text: 'select 1 from tasks where task_id = $1 for update' });

/** Locks the row, which `write` would do later, and writes what belongs to the task beside it. Returns the differences; null if none. */
async function lockedBeside(
  ctx: Context,
  taskId: string,
  writeBeside: (ctx: Context) => Promise<Differences>,
): Promise<Differences | null> {
  await run(ctx.db, lockStatement, [taskId]);
  const differences = await writeBeside(ctx);
  return Object.keys(differences).length > 0 ? differences : null;
}

/**
 * Updates the fields present and increments `version`; with `version`, only if the row still has it. A new project moves the
 * subtasks too. Returns the version after the change, which stays the same if nothing changed. `writeBeside` writes what belongs to the
 * task beside its row, as part of the same change, and returns its differences; the caller has checked the permissions.
 * @throws RESOURCE_NOT_FOUND no live task, project or parent | PERMISSION_DENIED non-member or guest, or a recurrence set while
 * impersonating | RESOURCE_CONFLICT stale version | INVALID_REQUEST due date, assignee, parent, a project of another team, or too
 * many descendants of a task that is to recur | VALIDATION_ERROR a resolution for a task that is not done, or a stage
 * that is none of the task's team and status
 */
export async function updateTask(
  ctx: Context,
  taskId: string,
  { version = null, project_id, parent_task_id, ...fields }: UpdateTask,
  writeBeside?: (ctx: Context) => Promise<Differences>,
): Promise<number> {
  if (fields.recurrence) checkCallerKind('task.recur', ctx.actor);
  if (fields.recurrence) await checkTreeSize(ctx, taskId);
  const patch = { ...fields, due_date: dateField('due_date', fields.due_date), tags: fields.tags === null ? [] : fields.tags };
  const moves = project_id !== undefined || parent_task_id !== undefined;
  if (!moves && !writeBeside) return write(ctx, { taskId, fields: patch, version });
  return inTransaction(ctx, async (ctx) => {
    const target = moves ? await lockMoveTarget(ctx, taskId, { project_id, parent_task_id }, version) : {};
    const beside = writeBeside && (await lockedBeside(ctx, taskId, writeBeside));
    const after = await write(ctx, { taskId, fields: { ...patch, ...target }, version, beside: beside ?? null });
    if (target.project_id !== undefined) await moveSubtasks(ctx, taskId, target.project_id);
    return after;
  });
}
