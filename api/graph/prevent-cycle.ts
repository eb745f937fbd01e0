import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { conflict } from '../core/errors.js';

/** Kinds of edges that must not form a cycle. */
export type AcyclicKind = 'contains' | 'blocks';

/** Limits of one check: items visited and teams locked (docs/decisions.md#cycle-checks). */
const MAX_ITEMS = 10_000;
const MAX_TEAMS = 16;

/**
 * $1 = canonical kind, $2 = item where the walk begins, $3 = item that it must not reach. Follows edges and, for `contains`, subtasks; items
 * in the trash count, because they can be restored.
 */
const walkStatement: Statement = {
  name: 'walk_graph',
  text: /* sql */ `
    with recursive below (item_id) as (
      select $2::text
      union
      select e.item_id from below b cross join lateral (
        select r.to_id as item_id from relations r where r.kind = $1 and r.from_id = b.item_id
        union all
        select t.task_id from tasks t where $1 = 'contains' and t.parent_task_id = b.item_id
      ) e
    ), visited as materialized (select item_id from below limit ${MAX_ITEMS + 1})
    select count(*)::int as items, coalesce(bool_or(v.item_id = $3), false) as reached,
      coalesce(array_agg(distinct place.team_id::text) filter (where place.team_id is not null), '{}') as team_ids
    from visited v left join lateral (select p.team_id from item_place p where p.item_id = v.item_id limit 1) place on true`,
};

const lockStatement: Statement = {
  name: 'lock_team_graph',
  text: `select pg_advisory_xact_lock(hashtextextended('graph:' || $1, 0))`,
};

interface Walk extends Record<string, unknown> {
  items: number;
  reached: boolean;
  team_ids: string[];
}

/** A canonical edge: `from_id` contains or blocks `to_id`. */
export interface AcyclicEdge {
  kind: AcyclicKind;
  from_id: string;
  to_id: string;
}

async function walk(ctx: Context, { kind, from_id, to_id }: AcyclicEdge): Promise<Walk> {
  const [found] = await run<Walk>(ctx.db, walkStatement, [kind, to_id, from_id]);
  if (!found) throw new Error('The walk returned no row');
  if (found.items > MAX_ITEMS) throw conflict(`More than ${MAX_ITEMS} items depend on this one; the relation cannot be checked`);
  if (found.team_ids.length > MAX_TEAMS)
    throw conflict(`Items of more than ${MAX_TEAMS} teams depend on this one; the relation cannot be checked`);
  return found;
}

/**
 * Refuses an edge that would close a cycle, and keeps others from closing one before the commit: locks the graphs of both teams and of each
 * team that the walk meets, then walks again, until no team is new. Two edges that could close one cycle meet in at least one of these teams. No
 * lock of all teams: one would stop the others. The first walk, without locks, usually finds every team, so that locks are taken in order.
 * @throws RESOURCE_CONFLICT a cycle, or too many items or teams to check
 */
export async function preventCycle(ctx: Context, edge: AcyclicEdge, teamIds: string[]): Promise<void> {
  const locked = new Set<string>();
  let wanted = [...teamIds, ...(await walk(ctx, edge)).team_ids];
  for (;;) {
    const missing = [...new Set(wanted)].filter((id) => !locked.has(id)).sort();
    for (const id of missing) {
      // A statement of its own: the next walk then sees what the previous owner of the lock committed.
      await run(ctx.db, lockStatement, [id]);
      locked.add(id);
    }
    const found = await walk(ctx, edge);
    if (found.reached) throw conflict('The relation would close a cycle');
    if (found.team_ids.every((id) => locked.has(id))) return;
    wanted = found.team_ids;
  }
}
