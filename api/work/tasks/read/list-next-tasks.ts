import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { TASK_PRIORITIES } from '../rules.js';
import { ROW_COLUMNS, type TaskRow } from './task-row.js';

/** An open task, with the name of its project. */
export interface NextTask extends TaskRow, Record<string, unknown> {
  project_name: string;
}

/** $1 = caller id, $2 = row limit, $3 = roles that may list. Orders by due date, then priority. */
const statement = defineStatement({
  name: 'list_next_tasks',
  text: /* sql */ `
    select ${ROW_COLUMNS}, p.name as project_name, (count(*) over ())::int as total
    from tasks t join projects p using (project_id) join memberships m on m.team_id = t.team_id and m.user_id = $1 and m.role = any($3::text[])
    where t.assigned_to = $1 and t.deleted_at is null and t.status <> 'done' and not t.is_archived
    order by t.due_date nulls last, array_position(array[${TASK_PRIORITIES.map((one) => `'${one}'`).join(', ')}], t.priority) desc, t.created_at limit $2`,
});

/** Lists the caller's next open tasks and their total number, for the home page. */
export async function listNextTasks(ctx: Context, limit: number): Promise<{ tasks: NextTask[]; total: number }> {
  const rows = await run<NextTask & { total: number }>(ctx.db, statement, [requireUser(ctx), limit, rolesFor('task.list')]);
  return { tasks: rows.map(({ total: _total, ...task }) => task), total: rows[0]?.total ?? 0 };
}
