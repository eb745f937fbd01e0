import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';

/** Subtasks of one task that are counted: a card says how far it is, and reads no more for that. */
export const MAX_COUNTED = 100;

/** $1 = task ids, $2 = caller id, $3 = roles that may read. Returns the tasks that have subtasks, with their first ones counted. */
const countSubtasksStatement = defineStatement({
  name: 'count_subtasks',
  text: /* sql */ `
    select t.task_id, below.total, below.done
    from tasks t join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
    cross join lateral (select count(*)::int as total, count(*) filter (where status = 'done')::int as done from (
      select c.status from tasks c where c.parent_task_id = t.task_id and c.deleted_at is null limit ${MAX_COUNTED}) first_ones) below
    where t.task_id = any((select $1::text[])::text[]) and below.total > 0`,
});

interface Progress extends Record<string, unknown> {
  task_id: string;
  total: number;
  done: number;
}

/** Counts the subtasks of tasks, in one query. Tasks without any, and those that the caller may not read, are absent. */
export async function countSubtasks(ctx: Context, taskIds: readonly string[]): Promise<Map<string, Progress>> {
  if (taskIds.length === 0) return new Map();
  const rows = await run<Progress>(ctx.db, countSubtasksStatement, [taskIds, requireUser(ctx), rolesFor('task.read')]);
  return new Map(rows.map((row) => [row.task_id, row]));
}
