import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { conflict, notFound } from '../core/errors.js';
import type { ItemPlace } from '../graph/item-place.js';
import { type CanonicalEdge, MAX_EDGES } from './rules.js';

/** $1 = item ids. In id order, which prevents deadlocks. */
const lockStatement: Statement = {
  name: 'lock_item_keys',
  text: 'select item_id from item_keys where item_id = any($1) order by item_id for no key update',
};

/**
 * Locks both ends against other edges and against purging until the commit: the edges of an item are written one after the other, so that
 * they can be counted.
 * @throws RESOURCE_NOT_FOUND an end has just been purged
 */
export async function lockEnds(ctx: Context, { from_id, to_id }: CanonicalEdge): Promise<void> {
  const rows = await run(ctx.db, lockStatement, [[from_id, to_id]]);
  if (rows.length < 2) throw notFound('Work item');
}

/** $1 = item id, $2 = team of the writer, $3 = the item's team. Counts the edges that the same side wrote. */
const countStatement: Statement = {
  name: 'count_edges',
  text: /* sql */ `
    select count(*)::int as edges from (
      select r.team_id from relations r where r.from_id = $1
      union all
      select r.team_id from relations r where r.to_id = $1
    ) e where (e.team_id = $3::uuid) = ($2::uuid = $3::uuid)`,
};

/**
 * Refuses one more edge at an item whose side is full: its own team and strangers have equal shares, so strangers cannot use up the
 * team's.
 * @throws RESOURCE_CONFLICT
 */
export async function checkRoomForEdge(ctx: Context, item: ItemPlace, source: ItemPlace): Promise<void> {
  const [row] = await run<{ edges: number }>(ctx.db, countStatement, [item.item_id, source.team_id, item.team_id]);
  if ((row?.edges ?? 0) >= MAX_EDGES) throw conflict(`An item can have at most ${MAX_EDGES} relations`);
}
