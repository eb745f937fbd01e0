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
