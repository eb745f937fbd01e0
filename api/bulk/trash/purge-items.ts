import { defineStatement, run } from '../../../db/statement.js';
import { callerJson, type Context, inTransaction } from '../../platform/context.js';
import { BATCH, eraseItems, type Purge } from './erase.js';
import { recordItemPurgeStatement } from './purge-items.sql.js';

/** $1 = latest deletion time, $2 = team id or null. Teams with items to purge. */
export const teamsToPurgeStatement = defineStatement({
  name: 'teams_to_purge',
  text: `select distinct team_id as place_id from items
    where deleted_at <= $1::timestamptz and ($2::uuid is null or team_id = $2) limit ${BATCH}`,
});

/** $1 = team id, $2 = latest deletion time. Restoring an item locks its row too. */
const itemsStatement = defineStatement({
  name: 'items_to_purge',
  text: `select item_id from items where team_id = $1 and deleted_at <= $2::timestamptz
    order by deleted_at, item_id limit ${BATCH} for update`,
});

/** Purges one batch of a team's items in its own commit. Returns their number. */
function purgeItemBatch(ctx: Context, teamId: string, { until, cause, allow }: Purge): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    await allow(ctx);
    const ids = (await run<{ item_id: string }>(ctx.db, itemsStatement, [teamId, until])).map(({ item_id }) => item_id);
    if (ids.length === 0) return 0;
    await run(ctx.db, recordItemPurgeStatement, [JSON.stringify(callerJson(ctx)), cause, ids]);
    await eraseItems(ctx, ids);
    return ids.length;
  });
}

/** Permanently deletes a team's notes, files, whiteboards and docs that the purge covers. Returns their number. */
export async function purgeTeamItems(ctx: Context, teamId: string, purge: Purge): Promise<number> {
  let purged = 0;
  for (let found = BATCH; found === BATCH; purged += found) found = await purgeItemBatch(ctx, teamId, purge);
  return purged;
}
