import { defineStatement } from '../../../../db/statement.js';
import { hasSubscriber } from '../../../platform/events/has-subscriber.sql.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';

/** $1 = task ids, $2 = caller id. What a caller may know of tasks before any lock; only live ones are found. */
export const tasksToAddStatement = defineStatement({
  name: 'tasks_to_add',
  text: /* sql */ `
    select t.task_id, t.team_id, t.project_id, m.role as seat
    from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = any($1::text[]) and t.deleted_at is null`,
});

/** $1 = task ids, $2 = team id. In id order, which prevents deadlocks; other teams' tasks are not locked. */
export const lockTasksStatement = defineStatement({
  name: 'lock_tasks_to_add',
  text: /* sql */ `
    select t.task_id, t.team_id, t.project_id, t.cycle_id from tasks t
    where t.task_id = any($1::text[]) and t.team_id = $2 and t.deleted_at is null order by t.task_id for no key update`,
});

/** $1 = cycle id. Locks all tasks of a cycle, those in the trash too, in id order. */
export const lockTasksOfCycleStatement = defineStatement({
  name: 'lock_tasks_of_cycle',
  text: /* sql */ `
    with locked as (select t.task_id from tasks t where t.cycle_id = $1 order by t.task_id for no key update)
    select count(*)::int as count from locked`,
});

/** $1 = cycle id. */
export const countTasksStatement = defineStatement({
  name: 'count_tasks_of_cycle',
  text: 'select count(*)::int as count from tasks t where t.cycle_id = $1',
});

/** $1 = cycle id. */
export const liveTasksStatement = defineStatement({
  name: 'live_tasks_of_cycle',
  text: `select coalesce(array_agg(t.task_id order by t.task_id), '{}') as task_ids from tasks t
    where t.cycle_id = $1 and t.deleted_at is null`,
});

/**
 * $1 = caller (jsonb), $2 = ids of live tasks of one team that the caller has locked, $3 = cycle id or null, $4 = team id, $5 = outcome in
 * the cycle that they leave, or null, $6 = whether each gets a line of activity, $7 = user id or null. Moves the tasks, each with its
 * trace, and ends their stays where they were. Returns the ids of those that moved. `select $2` hides the number of ids: with thousands the
 * planner would read the tasks of all teams.
 */
export const moveTasksStatement = defineStatement({
  name: 'move_tasks_to_cycle',
  text: /* sql */ `
with audience as materialized (
  select ${hasSubscriber('task.updated', '$4::uuid', '$7::uuid')} as wanted
), moved as (
  update tasks t set cycle_id = $3::uuid, version = t.version + 1, updated_at = now()
  where t.task_id = any((select $2::text[])::text[]) and t.deleted_at is null and t.cycle_id is distinct from $3::uuid
  returning t.task_id, t.title, t.team_id, t.project_id, t.version, old.cycle_id as left_cycle,
    case when (select a.wanted from audience a) then task_json(t) end as json,
    jsonb_build_object('cycle_id', jsonb_build_object('from', old.cycle_id, 'to', new.cycle_id)) as changes
), ended as (
  update cycle_tasks ct set removed_at = clock_timestamp(), outcome = coalesce($5::text, ct.outcome)
  from moved m where ct.cycle_id = m.left_cycle and ct.task_id = m.task_id and ct.removed_at is null
), recorded as (
  select record_changes($1::jsonb, array_agg(make_change(team_id => m.team_id, project_id => m.project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
    entity_id => m.task_id, title => m.title, summary => case when $6::boolean then 'changed cycle_id' end,
    details => jsonb_build_object('changes', m.changes, 'version', m.version),
    event_type => case when m.json is not null then ${eventType('task.updated')} end,
    payload => jsonb_build_object('task', m.json, 'changes', m.changes)))) as audit_id
  from moved m having count(*) > 0
)
select coalesce(array_agg(m.task_id), '{}') as task_ids, (select count(audit_id) from recorded) as recorded from moved m`,
});

/** $1 = cycle id, $2 = task ids. Begins stays; a task that comes back continues its stay. */
export const enterCycleStatement = defineStatement({
  name: 'enter_cycle',
  text: /* sql */ `
    insert into cycle_tasks (cycle_id, task_id) select $1, task_id from unnest($2::text[]) task_id
    on conflict (cycle_id, task_id) do update set removed_at = null, outcome = null`,
});
