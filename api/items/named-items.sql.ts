import { rolesFor } from '../core/access.js';
import { edgesShownAs, type RelationType } from '../relations/rules.js';
import type { Parameters } from './statement-parameters.js';

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
  const shown = (at: 'from' | 'to', column: string) =>
    `(${atEnd} is null or ${atEnd} = '${at}') and (${ofKind} is null or ${ofKind} = ${column})`;
  return /* sql */ `
    select e.id from (
      select r.to_id as id from relations r where r.from_id = ${item} and ${shown('from', 'r.kind')}
      union select r.from_id from relations r where r.to_id = ${item} and ${shown('to', 'r.kind')}
      union select t.task_id from tasks t where t.parent_task_id = ${item} and ${shown('from', "'contains'")}
      union select t.parent_task_id from tasks t where t.task_id = ${item} and t.parent_task_id is not null and ${shown('to', "'contains'")}
      union select t.task_id from tasks t where t.recurrence_of = ${item} and ${shown('to', "'recurs'")}
      union select t.recurrence_of from tasks t where t.task_id = ${item} and t.recurrence_of is not null and ${shown('from', "'recurs'")}
    ) e
    where (select true from item_place p join memberships m on m.team_id = p.team_id and m.user_id = ${$.add(userId, 'uuid')}
      where p.item_id = ${item} and p.deleted_at is null and coalesce(m.role = any(${$.add(rolesFor('item.read'), 'text[]')}), false) limit 1)`;
}
