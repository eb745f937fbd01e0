import type { Statement } from '../../db/statement.js';

/**
 * One round trip for a change of a task. $1 who (jsonb), $2 task id, $3 the fields present (jsonb), $4 expected version or null.
 * No row: no live task. Otherwise the flags tell the outcomes apart. A change that changes nothing writes nothing (C3).
 * `project_id` and `parent_task_id` are among the fields only when find-place.ts has judged them under the project's lock.
 */
export const updateTaskStatement: Statement = {
  name: 'update_task',
  text: /* sql */ `
with before as (
  select t as task from tasks t where t.task_id = $2 and t.deleted_at is null for update
), wanted as (
  -- The row with the given fields laid over it; keys come from the closed schema only.
  select w from before b, jsonb_populate_record(b.task, $3::jsonb) as w
), seat as (
  select m.role from memberships m, before b
  where m.team_id = (b.task).team_id and m.user_id = ($1::jsonb->>'user_id')::uuid for key share of m
), assignee as (
  select 1 from memberships m, wanted where m.team_id = (w).team_id and m.user_id = (w).assigned_to for key share of m
), verdict as (
  select (select role from seat) as seat, (b.task).version as version,
    $4::int is not null and $4::int <> (b.task).version as stale,
    (w).assigned_to is not distinct from (b.task).assigned_to or (w).assigned_to is null or exists (select from assignee) as assignee_ok
  from before b, wanted
), updated as (
  update tasks t set title = (w).title, description = (w).description, assigned_to = (w).assigned_to, status = (w).status,
    priority = (w).priority, due_date = (w).due_date, tags = (w).tags, estimated_hours = (w).estimated_hours,
    actual_hours = (w).actual_hours, position = (w).position, is_archived = (w).is_archived, recurrence = (w).recurrence,
    project_id = (w).project_id, parent_task_id = (w).parent_task_id,
    completed_at = case when (w).status = 'done' then coalesce(t.completed_at, now()) end,
    version = t.version + 1, updated_at = now()
  from wanted, before b, verdict v
  where t.task_id = (b.task).task_id and v.seat <> 'guest' and not v.stale and v.assignee_ok and w is distinct from b.task
  returning t.task_id, t.title, t.team_id, t.project_id, t.version, task_json(b.task)::jsonb as was, task_json(t)::jsonb as now
), recorded as (
  select record_changes($1::jsonb, array[a_change(team_id => u.team_id, project_id => u.project_id, feature => 'tasks',
    action => 'update', entity_type => 'task', entity_id => u.task_id, title => u.title,
    summary => 'changed ' || (select string_agg(key, ', ') from jsonb_object_keys(c.changes) as key),
    details => jsonb_build_object('changes', c.changes, 'version', u.version), event_type => 'task.updated',
    payload => jsonb_build_object('task', u.now, 'changes', c.changes))]) as audit_id
  -- What differs, as {field: {from, to}} (F5). Only what was asked for can, and what follows from the status.
  from updated u, lateral (
    select jsonb_object_agg(key, jsonb_build_object('from', u.was->key, 'to', u.now->key)) as changes
    from jsonb_object_keys($3::jsonb || '{"completed_at": null}') as key where u.was->key is distinct from u.now->key
  ) c
)
select v.seat, v.stale, v.assignee_ok, coalesce(u.version, v.version) as version, (select audit_id from recorded) as audit_id
from verdict v left join updated u on true`,
};
