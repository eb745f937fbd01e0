import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { ROW_COLUMNS, type TaskRow } from './task-row.js';

/** $1 = task ids, $2 = caller id, $3 = roles that may read. */
const statement = defineStatement({
  name: 'find_task_rows',
  text: /* sql */ `
    select ${ROW_COLUMNS} from unnest($1::text[]) as wanted(task_id)
    cross join lateral (select * from tasks k where k.task_id = wanted.task_id and k.deleted_at is null limit 1) t
    join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])`,
});

/** Returns what rows show of live tasks that the caller may read, by id; ids of other items are absent. */
export async function findTaskRows(ctx: Context, ids: readonly string[]): Promise<Record<string, TaskRow>> {
  if (ids.length === 0) return {};
  const rows = await run<TaskRow & Record<string, unknown>>(ctx.db, statement, [ids, requireUser(ctx), rolesFor('task.list')]);
  return Object.fromEntries(rows.map((row) => [row.task_id, row]));
}
