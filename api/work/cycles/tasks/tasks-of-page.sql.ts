import { defineStatement } from '../../../../db/statement.js';
import { manualKey } from '../../tasks/order/manual-key.js';
import { ROW_COLUMNS } from '../../tasks/read/task-row.js';

/** $1 = cycle id, $2 = row limit. Open tasks first. */
export const shownTasksStatement = defineStatement({
  name: 'shown_tasks_of_cycle',
  text: /* sql */ `
    select ${ROW_COLUMNS} from tasks t where t.cycle_id = $1 and t.deleted_at is null
    order by t.status = 'done', ${manualKey('t')}, t.created_at, t.task_id limit $2`,
});

/** $1 = team id, $2 = project id or null for all, $3 = row limit. The newest open tasks without a cycle. */
export const backlogStatement = defineStatement({
  name: 'backlog_for_cycle',
  text: /* sql */ `
    select ${ROW_COLUMNS} from (
      select * from tasks b where b.team_id = $1 and ($2::uuid is null or b.project_id = $2) and b.deleted_at is null
      order by b.created_at desc, b.task_id desc limit 1000
    ) t
    where t.cycle_id is null and t.status <> 'done' and not t.is_archived order by t.created_at desc, t.task_id desc limit $3`,
});
