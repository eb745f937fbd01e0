import { type Context, inTransaction } from '../../core/context.js';
import { DomainError } from '../../core/errors.js';
import { coalesceWrites } from '../../core/batching/coalesce-writes.js';
import type { CreateTask } from '../schema.js';
import { keyShareLockProjects, type TaskCreation, writeNewTasks, writeTasksOfMany } from './write-new-tasks.js';

async function createAlone(ctx: Context, fields: CreateTask): Promise<TaskCreation> {
  for (;;) {
    const result = (await writeNewTasks(ctx, [{ index: 0, fields }])).get(0);
    if (result instanceof DomainError) throw result;
    if (result) return result;
  }
}

/**
 * The hot path: one statement for all that come together. A `task_id` of the client's goes alone: somebody else may be about to take
 * it, and PostgreSQL then waits for their commit.
 */
const create = coalesceWrites<CreateTask, TaskCreation>({
  keyOf: (fields) => fields,
  alone: createAlone,
  write: writeTasksOfMany,
});

/**
 * Creates a task in a live project of the caller's team. A `task_id` of the client's makes it idempotent: the same id in the
 * same project gives the stored task (C6).
 * @throws RESOURCE_NOT_FOUND no live project or parent | PERMISSION_DENIED stranger or guest | INVALID_REQUEST due date, assignee,
 * parent of another project or too deep | RESOURCE_CONFLICT the id belongs to something else, or to a task in the trash
 * Source: contract, section 4, tasks rules 1 to 5.
 */
export async function createTask(ctx: Context, input: CreateTask): Promise<TaskCreation> {
  if (input.parent_task_id == null) return input.task_id == null ? create(ctx, input) : createAlone(ctx, input);
  // How deep the parent lies must not change between looking and writing.
  return inTransaction(ctx, async (ctx) => {
    await keyShareLockProjects(ctx, [input.project_id]);
    return createAlone(ctx, input);
  });
}
