import { defineStatement } from '../../../../db/statement.js';

/** Linked items of one prompt; the links beyond are told as a number. */
const MAX_ITEMS = 50;

/**
 * $1 = session id, $2 = user id, $3 = roles that may link, $4 = maximum length of a text, $5 = comments of an item, $6 = maximum length
 * of a comment, $7 = ids of the items whose texts are read, null for all. One row for each link, oldest first: the item as the user may
 * read it now, or only its link if it is in the trash or its team is no longer theirs. Texts are one character longer than the maximum if
 * they are cut. Locks nothing, so that it runs in a read-only transaction.
 */
export const linkedItemsStatement = defineStatement({
  name: 'agent_linked_items',
  text: /* sql */ `
with linked as materialized (
  select l.item_id, l.item_type as link_type, l.linked_at, p.*
  from (select * from agent_links where session_id = $1 order by linked_at, item_id limit ${MAX_ITEMS}) l
  left join lateral (
    select place.item_id as found_id, place.item_type, place.title, place.status, place.team_id, place.project_id
    from item_place place where place.item_id = l.item_id and place.deleted_at is null
      and (place.team_id in (select m.team_id from memberships m where m.user_id = $2 and m.role = any($3::text[]))) is true
    limit 1
  ) p on true
)
select l.item_id, l.link_type, l.found_id is null as is_lost, l.item_type, l.title, l.status, l.team_id, l.project_id,
  own_project.name as project_name,
  coalesce(t.updated_at, i.updated_at, p.updated_at) as updated_at,
  case when wanted then left(coalesce(t.description, nullif(i.content, ''), i.description, p.description), $4::int + 1) end as body,
  t.priority, t.due_date, t.assigned_to, t.is_archived, t.parent_task_id, t.tags,
  p.start_date::text as start_date, p.end_date::text as end_date, counts.by_status,
  coalesce(said.comments, '[]') as comments,
  coalesce((select s.external_model from agent_settings s where s.team_id = l.team_id), false) as is_external_allowed
from linked l
cross join lateral (select $7::text[] is null or l.item_id = any($7::text[]) as wanted) w
left join tasks t on l.item_type = 'task' and t.task_id = l.found_id
left join items i on i.item_id = l.found_id
left join projects p on l.item_type = 'project' and p.project_id::text = l.found_id
left join projects own_project on own_project.project_id = l.project_id and own_project.deleted_at is null
left join lateral (
  select jsonb_object_agg(c.status, c.tasks) as by_status from (
    select k.status, count(*) as tasks from tasks k where k.project_id = p.project_id and k.deleted_at is null group by k.status
  ) c
) counts on p.project_id is not null
left join lateral (
  select jsonb_agg(jsonb_build_object('author_id', c.author_id, 'at', c.created_at, 'text', left(c.content, $6::int + 1)) order by c.created_at, c.comment_id) as comments
  from (
    select * from comments where task_id = t.task_id and deleted_at is null order by created_at desc, comment_id desc limit $5
  ) c
) said on wanted and $5::int > 0
order by l.linked_at, l.item_id`,
});

/** $1 = item ids, $2 = maximum. Stored relations whose both ends are among these items. */
export const relationsAmongStatement = defineStatement({
  name: 'agent_relations_among',
  text: /* sql */ `
select e.relation_id, e.source_id, e.target_id, e.relation_type
from item_edges e where e.item_id = any($1::text[]) and e.at_end = 'from' and e.far_id = any($1::text[])
order by e.created_at, e.relation_id limit $2`,
});

/** $1 = team ids, $2 = maximum. Members who may be assigned tasks, with the name that they chose. */
export const membersStatement = defineStatement({
  name: 'agent_members',
  text: /* sql */ `
select u.user_id, min(u.display_name) as name, array_agg(m.team_id::text) as team_ids
from memberships m join users u using (user_id)
where m.team_id = any($1::uuid[]) and u.status = 'active' group by u.user_id order by name, u.user_id limit $2`,
});
