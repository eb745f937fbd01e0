import { defineStatement } from '../../../db/statement.js';

/**
 * Values of both statements: $1 = caller id, $2 = roles that may list, $3 = team id or null for all (project id), $4 = status or null,
 * $5 = only tasks assigned to the caller, $6 and $7 = creation time and id of the last task of the page before, or null, $8 = row limit.
 */
const page = /* sql */ `t.deleted_at is null and ($4::text is null or t.status = $4) and (not $5::boolean or t.assigned_to = $1)
  and ($6::timestamptz is null or (t.created_at, t.task_id) > ($6, $7::text))`;

/** Live tasks of the caller's teams, oldest first: each team is read along its index up to the limit. */
export const tasksOfTeams = defineStatement({
  name: 'mcp_tasks_of_teams',
  text: /* sql */ `
with places as materialized (
  select m.team_id from memberships m where m.user_id = $1::uuid and m.role = any($2::text[]) and ($3::uuid is null or m.team_id = $3)
), keys as materialized (
  select key.* from places cross join lateral (
    select t.task_id, t.created_at from tasks t where t.team_id = places.team_id and ${page} order by t.created_at, t.task_id limit $8
  ) key order by key.created_at, key.task_id limit $8
)
select task_json(t)::text as json, (t.created_at at time zone 'UTC')::text || '+00' as created_at, t.task_id from keys join tasks t using (task_id)
order by keys.created_at, keys.task_id`,
});

/** The same in one project. */
export const tasksOfProject = defineStatement({
  name: 'mcp_tasks_of_project',
  text: /* sql */ `
with keys as materialized (
  select t.task_id, t.created_at from tasks t
  where t.project_id = $3::uuid and t.team_id in (select m.team_id from memberships m where m.user_id = $1::uuid and m.role = any($2::text[]))
    and ${page}
  order by t.created_at, t.task_id limit $8
)
select task_json(t)::text as json, (t.created_at at time zone 'UTC')::text || '+00' as created_at, t.task_id from keys join tasks t using (task_id)
order by keys.created_at, keys.task_id`,
});
