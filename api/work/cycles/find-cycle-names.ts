import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** $1 = cycle ids, $2 = caller id, $3 = roles that may read. */
const statement = defineStatement({
  name: 'find_cycle_names',
  text: /* sql */ `
    select c.cycle_id, c.name from cycles c join memberships m on m.team_id = c.team_id and m.user_id = $2 and m.role = any($3::text[])
    where c.cycle_id = any($1::uuid[])`,
});

/** Returns the names of cycles that the caller may read, by id. */
export async function findCycleNames(ctx: Context, ids: readonly string[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const rows = await run<{ cycle_id: string; name: string }>(ctx.db, statement, [ids, requireUser(ctx), rolesFor('cycle.read')]);
  return Object.fromEntries(rows.map(({ cycle_id, name }) => [cycle_id, name]));
}
