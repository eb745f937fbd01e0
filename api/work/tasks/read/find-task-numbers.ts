import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { TaskResolution } from '../rules.js';

/** What a task's name is built from, and why nobody completed it. */
interface NumberedTask extends Record<string, unknown> {
  task_id: string;
  team_id: string;
  number: number | null;
  resolution: TaskResolution | null;
}

/** $1 = task ids, $2 = caller id, $3 = roles that may read. */
const statement = defineStatement({
  name: 'find_task_numbers',
  text: /* sql */ `
    select t.task_id, t.team_id, t.number, t.resolution from unnest($1::text[]) as wanted(task_id)
    cross join lateral (select * from tasks k where k.task_id = wanted.task_id and k.deleted_at is null limit 1) t
    join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])`,
});

/** Returns teams, numbers and resolutions of live tasks that the caller may read, by id; ids of other items are absent. */
export async function findTaskNumbers(ctx: Context, ids: readonly string[]): Promise<Record<string, NumberedTask>> {
  if (ids.length === 0) return {};
  const rows = await run<NumberedTask>(ctx.db, statement, [ids, requireUser(ctx), rolesFor('task.list')]);
  return Object.fromEntries(rows.map((row) => [row.task_id, row]));
}
