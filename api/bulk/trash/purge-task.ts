import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { notInTrash } from '../../platform/errors.js';
import type { Change } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { recordCascade } from '../../work/graph/record-cascade.js';
import { eraseTasks } from './erase.js';
import { lockProjectOfTask } from '../../work/tasks/write/lock-project-of-task.js';

/** $1 = task id. Returns the task first, then its descendants of the same cascade. No row: it is not in the trash. */
const statement = defineStatement({
  name: 'trashed_tree',
  text: /* sql */ `
    with recursive tree as (
      select task_id, title, cascade_id, 0 as level from tasks where task_id = $1 and deleted_at is not null
      union all
      select c.task_id, c.title, c.cascade_id, tree.level + 1 from tree
      join tasks c on c.parent_task_id = tree.task_id and c.cascade_id = tree.cascade_id and c.deleted_at is not null
    )
    select task_id, title, cascade_id from tree order by level, task_id`,
});

/**
 * Permanently deletes a task in the trash with the subtasks of the same deletion. A concurrent restore either commits first or
 * finds nothing. Returns the number of tasks.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED below manager
 */
export function purgeTask(ctx: Context, taskId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const place = await lockProjectOfTask(ctx, taskId);
    if (!place) throw notInTrash('Task');
    authorize('trash.purge', await findSeat(ctx, place.team_id));
    const tree = await run<{ task_id: string; title: string; cascade_id: string }>(ctx.db, statement, [taskId]);
    const [task] = tree;
    if (!task) throw notInTrash('Task');
    const ids = tree.map(({ task_id }) => task_id);
    await eraseTasks(ctx, ids);
    const change: Change = {
      team_id: place.team_id,
      project_id: place.project_id,
      feature: 'tasks',
      action: 'purge',
      severity: 'MEDIUM',
      entity_type: 'task',
      entity_id: taskId,
      title: task.title,
      summary: 'purged the task',
      details: { cause: 'purged', title: task.title, cascade_id: task.cascade_id, purged_count: tree.length },
    };
    await recordCascade(ctx, change, { task_ids: ids.slice(1), item_ids: [] });
    return tree.length;
  });
}
