import type { Statement } from '../../db/statement.js';

/** Maximum edges of one response. */
export const MAX_LISTED = 10_000;

/**
 * $1 = item id, $2 = caller id, $3 = roles that may read items, $4 = canonical kind or null, $5 = end at which the item stands (`from`,
 * `to`) or null, $6 = direction (`out`, `in`) or null. Returns stored edges and those that follow from the task's fields, oldest first, without
 * ends that are in the trash or that the caller may not read. Each far end is looked up by itself.
 */
export const listRelationsStatement: Statement = {
  name: 'list_relations',
  text: /* sql */ `
with edges as (
  select r.relation_id::text, r.relation_type, r.source_id, r.target_id, r.kind, r.created_by, r.created_at, 'from' as at_end, r.to_id as far_id
  from relations r where r.from_id = $1
  union all
  select r.relation_id::text, r.relation_type, r.source_id, r.target_id, r.kind, r.created_by, r.created_at, 'to', r.from_id
  from relations r where r.to_id = $1
  union all
  select 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, 'contains', t.created_by, t.created_at, 'from', t.task_id
  from tasks t where t.parent_task_id = $1 and t.deleted_at is null
  union all
  select 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, 'contains', t.created_by, t.created_at, 'to', t.parent_task_id
  from tasks t where t.task_id = $1 and t.parent_task_id is not null
  union all
  select 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, 'recurs', t.created_by, t.created_at, 'to', t.task_id
  from tasks t where t.recurrence_of = $1 and t.deleted_at is null
  union all
  select 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, 'recurs', t.created_by, t.created_at, 'from', t.recurrence_of
  from tasks t where t.task_id = $1 and t.recurrence_of is not null
)
select e.relation_id, e.source_id, e.target_id, e.relation_type, e.kind, e.at_end, e.created_by, e.created_at,
  far.item_id as far_id, far.item_type as far_type, far.title as far_title, far.status as far_status
from edges e cross join lateral (select * from item_place p where p.item_id = e.far_id and p.deleted_at is null limit 1) far
where ($4::text is null or e.kind = $4) and ($5::text is null or e.at_end = $5)
  and ($6::text is null or $6 = case when e.source_id = $1 then 'out' else 'in' end)
  -- Not a join: a subquery that is read once, whatever the statistics say of the caller's memberships.
  and (far.team_id in (select m.team_id from memberships m where m.user_id = $2 and m.role = any($3::text[]))) is true
order by e.created_at, e.relation_id limit ${MAX_LISTED + 1}`,
};
