import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = task id, $2 = new parent id, $3 = project id, $4 = maximum depth. Descendants in the trash count, because they can be
 * restored.
 */
export const parentToMoveBelowStatement = defineStatement({
  name: 'parent_to_move_below',
  text: /* sql */ `
    with recursive up as (
      select t.task_id, t.parent_task_id, 1 as level from tasks t where t.task_id = $2
      union all
      select t.task_id, t.parent_task_id, up.level + 1 from up join tasks t on t.task_id = up.parent_task_id where up.level <= $4::int
    ), down as (
      select $1::text as task_id, 1 as level
      union all
      select t.task_id, down.level + 1 from down join tasks t on t.parent_task_id = down.task_id where down.level <= $4::int
    )
    select (select t.project_id = $3 from tasks t where t.task_id = $2 and t.deleted_at is null) as here,
      exists (select from up where task_id = $1) as circular,
      (select max(level) from up) + (select max(level) from down) as depth`,
});
