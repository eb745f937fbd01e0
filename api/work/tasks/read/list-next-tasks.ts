import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';

/** Summary of an open task. */
export interface NextTask extends Record<string, unknown> {
  task_id: string;
  title: string;
  status: string;
  priority: string;
  /** A date, or a date-time in UTC. */
  due_date: string | null;
  team_id: string;
  number: number | null;
  tags: string[];
  parent_task_id: string | null;
  project_name: string;
  version: number;
}

/** $1 = caller id, $2 = row limit, $3 = roles that may list. Orders by due date, then priority. */
const statement = defineStatement({
  name: 'list_next_tasks',
  text: /* sql */ `
    select t.task_id, t.team_id, t.number, t.title, t.status, t.priority, t.due_date, t.tags, t.parent_task_id, p.name as project_name, t.version, (count(*) over ())::int as total
    from tasks t join projects p using (project_id) join memberships m on m.team_id = t.team_id and m.user_id = $1 and m.role = any($3::text[])
    where t.assigned_to = $1 and t.deleted_at is null and t.status <> 'done' and not t.is_archived
    order by t.due_date nulls last, array_position(array['urgent', 'high', 'medium', 'low'], t.priority), t.created_at limit $2`,
});

/** Lists the caller's next open tasks and their total number, for the home page. */
export async function listNextTasks(ctx: Context, limit: number): Promise<{ tasks: NextTask[]; total: number }> {
  const rows = await run<NextTask & { total: number }>(ctx.db, statement, [requireUser(ctx), limit, rolesFor('task.list')]);
  return { tasks: rows.map(({ total: _total, ...task }) => task), total: rows[0]?.total ?? 0 };
}
