import { defineStatement } from '../../../db/statement.js';
import { CYCLE, FIELDS, isBlockedSql } from './reading/linked-facts.sql.js';

/** Newest tasks among which a question looks, in all teams together. */
export const MAX_EXAMINED = 20_000;

/** Of a task t with its project p, its team e and its assignee u. */
const columns = (
  timezone: string,
  user: string,
  roles: string,
): string => /* sql */ `t.task_id as id, e.key || '-' || t.number as key, t.title, t.status, t.resolution, t.priority,
  (select s.name from stages s where s.stage_id = t.stage_id) as stage, ${CYCLE} as cycle, ${FIELDS} as fields,
  left(t.due_date, 10) as due, (t.completed_at at time zone ${timezone})::date::text as completed, t.assigned_to, u.display_name as assignee,
  p.name as project_title, t.tags, ${isBlockedSql(user, roles)} as is_blocked`;

const places = (user: string, roles: string, teams: string): string =>
  `select m.team_id from memberships m where m.user_id = ${user} and m.role = any(${roles}) and (${teams}::uuid[] is null or m.team_id = any(${teams}))`;

/** The newest tasks of teams: $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's. */
const EXAMINED = `places as materialized (${places('$1::uuid', '$2::text[]', '$3')}), examined as materialized (
  select recent.* from places cross join lateral (
    select t.* from tasks t where t.team_id = places.team_id and t.deleted_at is null
    order by t.created_at desc, t.task_id desc limit ${MAX_EXAMINED}
  ) recent limit ${MAX_EXAMINED}
)`;

/**
 * $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's, $4 = time zone, $5 = statuses or null,
 * $6 = priorities or null, $7 = first due date or null, $8 = last due date or null, $9 = only without a due date, $10 = assignees or null for
 * any, $11 = only without an assignee, $12 = patterns that title, project name and tags match together, $13 = only blocked ones, $14 = first day of
 * completion or null, $15 = last one or null, $16 = why they are done (`completed`, or a resolution) or null for any, $17 = project id or null, $18 = cycle id or
 * null, $19 = names of stages in lower case or null, $20 = custom fields with their values in words, all in lower case (jsonb) or null, $21 = only in no cycle,
 * $22 = row limit.
 */
export const findTasksStatement = defineStatement({
  name: 'rules_find_tasks',
  text: /* sql */ `
with ${EXAMINED}, asked as materialized (
  select * from rows from (jsonb_to_recordset($20) as (field text, value text)) with ordinality as w(field, value, at)
), wanted as materialized (
  -- The fields that a filter names, once: a task then looks up the values of these alone.
  select w.at, f.team_id, f.field_id, f as field from asked w
  join custom_fields f on lower(f.name) = w.field and f.entity_type = 'task' and not f.is_archived and f.team_id in (select team_id from places)
)
select ${columns('$4', '$1::uuid', '$2::text[]')} from examined t join projects p using (project_id) join teams e on e.team_id = t.team_id left join users u on u.user_id = t.assigned_to
where not t.is_archived and ($5::text[] is null or t.status = any($5)) and ($6::text[] is null or t.priority = any($6))
  and ($7::text is null or left(t.due_date, 10) >= $7) and ($8::text is null or left(t.due_date, 10) <= $8)
  and (not $9::boolean or t.due_date is null) and ($10::uuid[] is null or t.assigned_to = any($10)) and (not $11::boolean or t.assigned_to is null)
  and (t.title || ' ' || p.name || ' ' || array_to_string(t.tags, ' ')) ilike all ($12::text[])
  and (not $13::boolean or ${isBlockedSql('$1::uuid', '$2::text[]')})
  and ($14::text is null or (t.completed_at at time zone $4)::date::text >= $14) and ($15::text is null or (t.completed_at at time zone $4)::date::text <= $15)
  and ($16::text[] is null or coalesce(t.resolution, 'completed') = any($16))
  and ($17::uuid is null or t.project_id = $17) and ($18::uuid is null or t.cycle_id = $18)
  and ($19::text[] is null or exists (select from stages s where s.stage_id = t.stage_id and lower(s.name) = any($19)))
  and ($20::jsonb is null or not exists (
    select from asked w left join lateral (
      select lower(custom_value_words(n.field, custom_field_json(v)::jsonb)) as value
      from wanted n join custom_field_values v on v.field_id = n.field_id and v.entity_id = t.task_id
      where n.at = w.at and n.team_id = t.team_id
    ) has on true
    where case when w.value is null then has.value is not null
      else has.value is distinct from w.value and not coalesce(w.value = any(string_to_array(has.value, ', ')), false) end
  )) and (not $21::boolean or t.cycle_id is null)
order by t.due_date nulls last, t.created_at, t.task_id limit $22`,
});

/**
 * $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's, $4 = time zone, $5 = patterns of which a title
 * matches one, $6 = row limit. The newest tasks with such titles.
 */
export const nearTasksStatement = defineStatement({
  name: 'rules_near_tasks',
  text: /* sql */ `
with ${EXAMINED}, near as materialized (
  select t.* from examined t where not t.is_archived and t.title ilike any ($5::text[]) order by t.created_at desc, t.task_id desc limit $6
)
select ${columns('$4', '$1::uuid', '$2::text[]')} from near t join projects p using (project_id) join teams e on e.team_id = t.team_id left join users u on u.user_id = t.assigned_to
order by t.created_at, t.task_id`,
});

/**
 * $1 = user id, $2 = roles that may list tasks, $3 = time zone, $4 = task ids, $5 = whether those that block them are wanted, and not those
 * that they block, $6 = row limit.
 */
export const blockingTasksStatement = defineStatement({
  name: 'rules_blocking_tasks',
  text: /* sql */ `
select ${columns('$3', '$1::uuid', '$2::text[]')}, case when $5 then edge.to_id else edge.from_id end as of_id from relations edge
join tasks t on t.task_id = case when $5::boolean then edge.from_id else edge.to_id end
join projects p on p.project_id = t.project_id join teams e on e.team_id = t.team_id left join users u on u.user_id = t.assigned_to
where edge.kind = 'blocks' and case when $5 then edge.to_id else edge.from_id end = any($4::text[]) and t.deleted_at is null
  and t.team_id in (${places('$1::uuid', '$2::text[]', 'null')})
order by t.status = 'done', t.due_date nulls last, t.task_id limit $6`,
});

/**
 * $1 = user id, $2 = roles that may list tasks, $3 = task id, $4 = only the relation with this item or null, $5 = row limit. Relations by
 * which open tasks block a task.
 */
export const blocksStatement = defineStatement({
  name: 'rules_blocks',
  text: /* sql */ `
select edge.relation_id from relations edge join tasks t on t.task_id = edge.from_id
where edge.kind = 'blocks' and edge.to_id = $3 and ($4::text is null or edge.from_id = $4) and t.deleted_at is null and t.status <> 'done'
  and t.team_id in (${places('$1::uuid', '$2::text[]', 'null')})
order by edge.relation_id limit $5`,
});

/**
 * $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's. Whether these teams have more tasks than a question
 * looks at.
 */
export const exceedsStatement = defineStatement({
  name: 'rules_tasks_exceed',
  text: /* sql */ `
with places as materialized (${places('$1::uuid', '$2::text[]', '$3')})
select (select count(*) from (select from places cross join lateral (
  select from tasks t where t.team_id = places.team_id and t.deleted_at is null limit ${MAX_EXAMINED + 1}
) few limit ${MAX_EXAMINED + 1}) many) > ${MAX_EXAMINED} as exceeds`,
});

/** $1 = token id. Whether a token may read tasks. */
export const tokenReadsTasksStatement = defineStatement({
  name: 'rules_token_reads_tasks',
  text: /* sql */ `select t.scopes && array['tasks:read', 'admin:*'] as allowed from personal_access_tokens t where t.token_id = $1`,
});
