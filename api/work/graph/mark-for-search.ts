import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** $1 = cascade id. */
const cascadeStatement = defineStatement({ name: 'search_mark_cascade', text: 'select search_mark_cascade($1::uuid)' });

/** $1 = team id, $2 = item ids. */
const itemsStatement = defineStatement({
  name: 'search_mark_items',
  text: 'insert into search_dirty (team_id, item_id) select $1::uuid, given.item_id from unnest($2::text[]) as given(item_id)',
});

/**
 * Marks the items of a cascade for the search index, in the transaction that trashes or restores them; `recordChange` marks only the item
 * that it names. Call it while the rows have the id: after trashing, before restoring. Purging needs no marks, because what is in the
 * trash is not indexed.
 */
export async function markCascade(ctx: Context, cascadeId: string): Promise<void> {
  await run(ctx.db, cascadeStatement, [cascadeId]);
}

/** Marks items of one team for the search index, in the transaction that changes them. */
export async function markItems(ctx: Context, teamId: string, itemIds: string[]): Promise<void> {
  if (itemIds.length > 0) await run(ctx.db, itemsStatement, [teamId, itemIds]);
}
