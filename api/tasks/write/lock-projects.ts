import { run, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';

/** In one order for everybody. Creating below a task, moving, trashing and restoring all queue here, project by project. */
const lockStatement: Statement = {
  name: 'lock_projects',
  text: /* sql */ `
    select p.project_id from unnest($1::uuid[]) as wanted(project_id)
    cross join lateral (
      select p.project_id from projects p where p.project_id = wanted.project_id and p.deleted_at is null for update
    ) p`,
};

/** Locks live projects until the commit. What is read by later statements stands until then. Returns those that are live. */
export async function lockProjects(ctx: Context, projectIds: string[]): Promise<Set<string>> {
  const ids = [...new Set(projectIds)].sort();
  const rows = await run<{ project_id: string }>(ctx.db, lockStatement, [ids]);
  return new Set(rows.map((row) => row.project_id));
}

const whereStatement: Statement = {
  name: 'project_of_task',
  text: 'select project_id from tasks where task_id = $1 and deleted_at is null',
};

/** Locks the project that a live task is in; the task may be moved to another while we wait, so that is looked at again. */
export async function lockProjectOf(ctx: Context, taskId: string): Promise<void> {
  let locked: string | undefined;
  for (;;) {
    const [task] = await run<{ project_id: string }>(ctx.db, whereStatement, [taskId]);
    if (!task || task.project_id === locked) return;
    await lockProjects(ctx, [task.project_id]);
    locked = task.project_id;
  }
}
