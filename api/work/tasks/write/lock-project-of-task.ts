import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** Project of a task, in the trash or not. */
export interface TaskLocation extends Record<string, unknown> {
  team_id: string;
  project_id: string;
  name: string;
  /** Whether the project itself is in the trash. */
  in_trash: boolean;
}

const whereStatement = defineStatement({ name: 'project_of_any_task', text: 'select project_id from tasks where task_id = $1' });

const lockStatement = defineStatement({
  name: 'lock_project',
  text: /* sql */ `
    select p.team_id, p.project_id, p.name, p.deleted_at is not null as in_trash from projects p where p.project_id = $1 for update`,
});

/**
 * Locks the project of a task until the commit. Every change of a project's tree, in or out of the trash, takes this lock first,
 * in a separate statement, so that later reads stay valid. The task may move to another project while the lock is awaited, so the
 * project is checked again. Undefined if the task does not exist.
 */
export async function lockProjectOfTask(ctx: Context, taskId: string): Promise<TaskLocation | undefined> {
  let locked: TaskLocation | undefined;
  for (;;) {
    const [task] = await run<{ project_id: string }>(ctx.db, whereStatement, [taskId]);
    if (!task) return undefined;
    if (task.project_id === locked?.project_id) return locked;
    [locked] = await run<TaskLocation>(ctx.db, lockStatement, [task.project_id]);
  }
}
