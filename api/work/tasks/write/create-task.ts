import { type Context, inTransaction } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { coalesceWrites } from '../../../platform/database/batching/coalesce-writes.js';
import { keyShareLockProjects, type NewTask, type TaskCreation, writeNewTasks, writeTasksOfMany } from './write-new-tasks.js';

async function createAlone(ctx: Context, fields: NewTask): Promise<TaskCreation> {
  for (;;) {
    const result = (await writeNewTasks(ctx, [{ index: 0, fields }])).get(0);
    if (result instanceof DomainError) throw result;
    if (result) return result;
  }
}

/**
 * Coalesces concurrent creations into one statement. A client's `task_id` is inserted alone: another transaction may be inserting
 * the same id, and PostgreSQL then waits for its commit.
 */
const create = coalesceWrites<NewTask, TaskCreation>({
  getKey: (fields) => fields,
  alone: createAlone,
  write: writeTasksOfMany,
});

/**
 * Creates a task in a live project of the caller's team. A client's `task_id` makes it idempotent: the same id in the same
 * project returns the stored task.
 * @throws RESOURCE_NOT_FOUND no live project or parent | PERMISSION_DENIED non-member or guest | INVALID_REQUEST due date,
 * assignee, parent of another project or too deep | RESOURCE_CONFLICT the id belongs to something else, or to a task in the trash
 */
export async function createTask(ctx: Context, input: NewTask): Promise<TaskCreation> {
  if (input.parent_task_id == null) return input.task_id == null ? create(ctx, input) : createAlone(ctx, input);
  // Locks the projects so that the parent's depth cannot change between check and insert.
  return inTransaction(ctx, async (ctx) => {
    await keyShareLockProjects(ctx, [input.project_id]);
    return createAlone(ctx, input);
  });
}
