import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { newId } from '../../platform/ids.js';
import { markCascade } from '../graph/mark-for-search.js';

/** $1 = team id, $2 = user id, $3 = cascade id. Creating an item needs a membership until the commit, so none can be missed. */
const statement = defineStatement({
  name: 'trash_items_of_team',
  text: /* sql */ `
    with moved as (
      update items set deleted_at = now(), deleted_by = $2, cascade_id = $3, version = version + 1
      where team_id = $1 and deleted_at is null returning 1
    )
    select count(*)::int as items from moved`,
});

/**
 * Moves the notes, files, whiteboards and docs of a team that is deleted to the trash, where they are purged in their time
 * (docs/decisions/work.md#items-of-a-deleted-team). The caller has deleted the memberships. Returns their number.
 */
export async function trashItemsOfTeam(ctx: Context, teamId: string): Promise<number> {
  const cascadeId = newId();
  const [moved] = await run<{ items: number }>(ctx.db, statement, [teamId, requireUser(ctx), cascadeId]);
  await markCascade(ctx, cascadeId);
  return moved?.items ?? 0;
}
