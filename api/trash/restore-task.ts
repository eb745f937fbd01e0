import { run, type Statement } from '../../db/statement.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { conflict, notFound } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { seatOf } from '../core/seats.js';
import { lockProjectOfTask } from './lock-project-of-task.js';
import type { Restored } from './schema.js';

interface Back extends Record<string, unknown> {
  task_id: string;
  title: string;
  json: unknown;
  cascade_id: string;
  restored_at: Date;
  uprooted: boolean;
}

/**
 * $1 = task id. Restores the task and its descendants of the same cascade. Clears a parent that is still in the trash. No row:
 * the task is not in the trash.
 */
const statement: Statement = {
  name: 'restore_task',
  text: /* sql */ `
    with recursive tree as (
      select task_id, parent_task_id, cascade_id from tasks where task_id = $1 and deleted_at is not null
      union all
      select c.task_id, c.parent_task_id, c.cascade_id from tree
      join tasks c on c.parent_task_id = tree.task_id and c.cascade_id = tree.cascade_id and c.deleted_at is not null
    ), root as (
      select r.task_id, p.deleted_at is not null as uprooted
      from tree r left join tasks p on p.task_id = r.parent_task_id where r.task_id = $1
    )
    update tasks t set deleted_at = null, deleted_by = null, cascade_id = null, version = t.version + 1,
      parent_task_id = case when root.task_id = t.task_id and root.uprooted then null else t.parent_task_id end
    from tree, root where t.task_id = tree.task_id and t.deleted_at is not null
    returning t.task_id, t.title, task_json(t) as json, tree.cascade_id, now() as restored_at, root.uprooted`,
};

/**
 * Restores a task with the subtasks of the same deletion.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT its project is in the
 * trash
 */
export function restoreTask(ctx: Context, taskId: string): Promise<Restored> {
  return inTransaction(ctx, async (ctx) => {
    const place = await lockProjectOfTask(ctx, taskId);
    if (!place) throw notFound('Task in the trash');
    authorize('trash.restore', await seatOf(ctx, place.team_id));
    if (place.in_trash) throw conflict(`The project “${place.name}” is in the trash; restore it first`);
    const rows = await run<Back>(ctx.db, statement, [taskId]);
    const task = rows.find((row) => row.task_id === taskId);
    if (!task) throw notFound('Task in the trash');
    await recordChange(ctx, {
      team_id: place.team_id,
      project_id: place.project_id,
      feature: 'tasks',
      action: 'restore',
      entity_type: 'task',
      entity_id: taskId,
      title: task.title,
      summary: 'restored the task',
      details: { cascade_id: task.cascade_id, restored_count: rows.length, parent_left_in_trash: task.uprooted },
      event: { type: 'task.restored', payload: { task: task.json, changes: {} } },
    });
    return {
      message: task.uprooted ? 'Task restored at top level: its parent is in the trash' : 'Task restored',
      success: true,
      entity_type: 'task',
      entity_id: taskId,
      restored_at: task.restored_at.toISOString(),
      restored_count: rows.length,
    };
  });
}
