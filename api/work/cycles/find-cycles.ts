import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';

/** Cycles that one look-up returns. */
const MOST = 5;

/** A cycle with the names of its team and project. */
export interface FoundCycle extends Record<string, unknown> {
  cycle_id: string;
  name: string;
  goal: string | null;
  status: string;
  start_date: string | null;
  end_date: string | null;
  team_name: string;
  project_name: string | null;
}

/**
 * $1 = user id, $2 = roles that may read cycles, $3 = team ids or null for all of the user's, $4 = lower-case names or null, $5 = status or null,
 * $6 = row limit. Those that run come first, then the newest.
 */
const statement = defineStatement({
  name: 'find_cycles',
  text: /* sql */ `
    select c.cycle_id, c.name, c.goal, c.status, c.start_date::text as start_date, c.end_date::text as end_date, e.name as team_name, p.name as project_name
    from memberships m join teams e on e.team_id = m.team_id join cycles c on c.team_id = m.team_id left join projects p on p.project_id = c.project_id
    where m.user_id = $1 and m.role = any($2::text[]) and ($3::uuid[] is null or m.team_id = any($3)) and p.deleted_at is null
      and ($4::text[] is null or lower(c.name) = any($4)) and ($5::text is null or c.status = $5)
    order by c.status <> 'active', c.status <> 'planned', case when c.status = 'planned' then c.start_date end, c.created_at desc limit $6`,
});

/** Finds cycles of the caller's teams by their names, or by their state. */
export function findCycles(
  ctx: Context,
  { teamIds, names, status }: { teamIds: readonly string[] | null; names: readonly string[] | null; status: string | null },
): Promise<FoundCycle[]> {
  return run<FoundCycle>(ctx.db, statement, [requireUser(ctx), rolesFor('cycle.read'), teamIds, names, status, MOST]);
}
