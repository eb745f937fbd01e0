import { defineStatement, run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import type { ItemType } from '../graph/item-place.js';

/** Type and team of a live item; neither ever changes. */
interface FoundWorkItem extends Record<string, unknown> {
  type: ItemType;
  team_id: string;
}

/** $1 = item id, $2 = caller id. */
const statement = defineStatement({
  name: 'find_work_item',
  text: /* sql */ `
    select p.item_type as type, p.team_id,
      (select m.role from memberships m where m.team_id = p.team_id and m.user_id = $2) as seat
    from item_place p where p.item_id = $1 and p.deleted_at is null`,
});

/**
 * Finds the live item that is to be written. The operation of its type checks again under its lock.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED non-member or guest
 */
export async function findWritableItem(ctx: Context, itemId: string): Promise<FoundWorkItem> {
  const [item] = await run<FoundWorkItem & { seat: Seat | null }>(ctx.db, statement, [itemId, requireUser(ctx)]);
  if (!item) throw notFound('Work item');
  authorize('item.write', item.seat);
  return item;
}
