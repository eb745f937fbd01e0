import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/**
 * Locks in id order, which prevents deadlocks. Creating a subtask, moving, trashing and restoring all wait for this lock per
 * project.
 */
const lockStatement = defineStatement({
  name: 'lock_projects',
  text: /* sql */ `
    select p.project_id from unnest($1::uuid[]) as wanted(project_id)
    cross join lateral (
      select p.project_id from projects p where p.project_id = wanted.project_id and p.deleted_at is null for update
    ) p`,
});

/** Locks live projects until the commit, so later reads stay valid. Returns the live ones. */
export async function lockProjects(ctx: Context, projectIds: string[]): Promise<Set<string>> {
  const ids = [...new Set(projectIds)].sort();
  const rows = await run<{ project_id: string }>(ctx.db, lockStatement, [ids]);
  return new Set(rows.map((row) => row.project_id));
}

const whereStatement = defineStatement({
  name: 'project_of_task',
  text: 'select project_id from tasks where task_id = $1 and deleted_at is null',
});

/** Locks the project of a live task; checks again after the lock, because the task may have moved. */
export async function lockProjectOfLiveTask(ctx: Context, taskId: string): Promise<void> {
  let locked: string | undefined;
  for (;;) {
    const [task] = await run<{ project_id: string }>(ctx.db, whereStatement, [taskId]);
    if (!task || task.project_id === locked) return;
    await lockProjects(ctx, [task.project_id]);
    locked = task.project_id;
  }
}
