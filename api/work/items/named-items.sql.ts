import { rolesFor } from '../../platform/access/access.js';
import { edgesShownAs, type RelationType } from '../relations/rules.js';
import type { Parameters } from '../../../db/statement-parameters.js';

/** Lists only what is related to an item. */
export interface RelatedFilter {
  itemId: string;
  /** As the relation reads from the item; null for any. */
  type: RelationType | null;
}

/**
 * Ids of items that an edge connects with one item, stored or following from a task's fields. Empty if the caller may not read the item: a
 * list must not tell a stranger what is related to it. An item has a bounded number of edges, so that all of them are read.
 */
export function relatedIds({ itemId, type }: RelatedFilter, userId: string, $: Parameters): string {
  const { kind = null, end = null } = type === null ? {} : edgesShownAs(type);
  const item = $.add(itemId, 'text');
  const ofKind = $.add(kind, 'text');
  const atEnd = $.add(end, 'text');
  return /* sql */ `
    select distinct e.far_id as id from item_edges e
    where e.item_id = ${item} and (${atEnd} is null or e.at_end = ${atEnd}) and (${ofKind} is null or e.kind = ${ofKind})
      and (select true from item_place p join memberships m on m.team_id = p.team_id and m.user_id = ${$.add(userId, 'uuid')}
      where p.item_id = ${item} and p.deleted_at is null and coalesce(m.role = any(${$.add(rolesFor('item.read'), 'text[]')}), false) limit 1)`;
}
