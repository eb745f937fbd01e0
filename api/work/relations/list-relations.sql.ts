import { defineStatement } from '../../../db/statement.js';

/** Maximum edges of one response. */
export const MAX_LISTED = 10_000;

/**
 * $1 = item id, $2 = caller id, $3 = roles that may read items, $4 = canonical kind or null, $5 = end at which the item stands (`from`,
 * `to`) or null, $6 = direction (`out`, `in`) or null. Returns stored edges and those that follow from the task's fields, oldest first, without
 * ends that are in the trash or that the caller may not read. Each far end is looked up by itself.
 */
export const listRelationsStatement = defineStatement({
  name: 'list_relations',
  text: /* sql */ `
select e.relation_id, e.source_id, e.target_id, e.relation_type, e.kind, e.at_end, e.created_by, e.created_at,
  far.item_id as far_id, far.item_type as far_type, far.title as far_title, far.status as far_status
from item_edges e cross join lateral (select * from item_place p where p.item_id = e.far_id and p.deleted_at is null limit 1) far
where e.item_id = $1 and ($4::text is null or e.kind = $4) and ($5::text is null or e.at_end = $5)
  and ($6::text is null or $6 = case when e.source_id = $1 then 'out' else 'in' end)
  -- Not a join: a subquery that is read once, whatever the statistics say of the caller's memberships.
  and (far.team_id in (select m.team_id from memberships m where m.user_id = $2 and m.role = any($3::text[]))) is true
order by e.created_at, e.relation_id limit ${MAX_LISTED + 1}`,
});
