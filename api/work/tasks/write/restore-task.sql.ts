import { defineStatement } from '../../../../db/statement.js';
import { dueAgain } from '../../../platform/events/due-people.sql.js';

/**
 * $1 = task id, $2 = caller (jsonb). Restores the task and its descendants of the same cascade. Clears a parent that is still in the trash. No row:
 * the task is not in the trash.
 */
export const restoreTaskStatement = defineStatement({
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
      due_set_by = ${dueAgain('$2::jsonb')},
      parent_task_id = case when root.task_id = t.task_id and root.uprooted then null else t.parent_task_id end
    from tree, root where t.task_id = tree.task_id and t.deleted_at is not null
    returning t.task_id, t.title, task_json(t) as json, tree.cascade_id, now() as restored_at, root.uprooted`,
});
