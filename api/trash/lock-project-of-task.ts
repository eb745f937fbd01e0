import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';

/** Where a task is, in the trash or not. */
export interface TaskLocation extends Record<string, unknown> {
  team_id: string;
  project_id: string;
  name: string;
  /** The project itself is in the trash. */
  in_trash: boolean;
}

const whereStatement: Statement = { name: 'project_of_any_task', text: 'select project_id from tasks where task_id = $1' };

const lockStatement: Statement = {
  name: 'lock_project',
  text: /* sql */ `
    select p.team_id, p.project_id, p.name, p.deleted_at is not null as in_trash from projects p where p.project_id = $1 for update`,
};

/**
 * The project of a task, locked until the commit. Every change of a project's tree in or out of the trash takes this lock first,
 * in a statement of its own: what is read after it stands until the commit. While we wait for it the task may be moved to another
 * project together with its parent, so that is looked at again. Undefined: there is no such task.
 */
export async function lockProjectOfTask(ctx: Context, taskId: string): Promise<TaskLocation | undefined> {
  let held: TaskLocation | undefined;
  for (;;) {
    const [task] = await run<{ project_id: string }>(ctx.db, whereStatement, [taskId]);
    if (!task) return undefined;
    if (task.project_id === held?.project_id) return held;
    [held] = await run<TaskLocation>(ctx.db, lockStatement, [task.project_id]);
  }
}
