import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { Task } from '../schema.js';
import { taskStatesStatement } from './read-states.sql.js';

export type TaskState = Pick<Task, 'task_id' | 'team_id' | 'version' | 'tags' | 'cycle_id' | 'parent_task_id'>;

/** Returns the states of live tasks by id, in one query. Those that the caller may not read are absent. */
export async function readTaskStates(ctx: Context, taskIds: readonly string[]): Promise<Map<string, TaskState>> {
  const values = [taskIds, requireUser(ctx), rolesFor('task.read')];
  const rows = await run<TaskState & Record<string, unknown>>(ctx.db, taskStatesStatement, values);
  return new Map(rows.map((row) => [row.task_id, row]));
}
