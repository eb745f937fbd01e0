import type { Statement } from '../../db/statement.js';

/**
 * One round trip for the whole creation. $1 who (jsonb), $2 the task's fields (jsonb), $3 deepest nesting.
 * Always one row; its flags tell the outcomes apart, `task` is there only when a row was written or already stood.
 * Locks: FOR KEY SHARE on project, membership and parent; whoever trashes or removes one takes FOR UPDATE first, so a right or
 * a place read here lasts until the commit (durability notes, 3.4).
 */
export const createTaskStatement: Statement = {
  name: 'create_task',
  text: /* sql */ `
with recursive given as (
  select ($1::jsonb->>'user_id')::uuid as user_id, g.*
  from jsonb_to_record($2::jsonb) as g(task_id text, title text, project_id uuid, description text, assigned_to uuid, status text,
    priority text, due_date text, tags text[], estimated_hours double precision, parent_task_id text, recurrence jsonb,
    position double precision, series_id uuid, occurrence_index integer, recurrence_of text)
), place as (
  select p.project_id, p.team_id from projects p join given g using (project_id) where p.deleted_at is null for key share of p
), seat as (
  select m.role from memberships m join place on m.team_id = place.team_id join given g on m.user_id = g.user_id for key share of m
), assignee as (
  select 1 from memberships m join place on m.team_id = place.team_id join given g on m.user_id = g.assigned_to for key share of m
), parent as (
  select t.task_id from tasks t join place using (project_id) join given g on t.task_id = g.parent_task_id
  where t.deleted_at is null for key share of t
), ancestors as (
  select t.parent_task_id, 1 as level from tasks t join given g on t.task_id = g.parent_task_id
  union all
  select t.parent_task_id, a.level + 1 from tasks t join ancestors a on t.task_id = a.parent_task_id where a.level <= $3::int
), existing as (
  select t from tasks t join given g using (task_id)
), taken as (
  select k.item_id from item_keys k join given g on k.item_id = g.task_id
), verdict as (
  select exists (select from place) as project_found, (select role from seat) as seat,
    g.assigned_to is null or exists (select from assignee) as assignee_ok,
    g.parent_task_id is null or exists (select from parent) as parent_ok,
    coalesce((select max(level) from ancestors), 0) < $3::int as depth_ok,
    exists (select from taken) as taken
  from given g
), key as (
  insert into item_keys (item_id, item_type)
  select coalesce(g.task_id, uuidv7()::text), 'task' from given g, verdict v
  where v.project_found and v.seat <> 'guest' and v.assignee_ok and v.parent_ok and v.depth_ok and not v.taken
  on conflict do nothing returning item_id
), made as (
  insert into tasks (task_id, project_id, team_id, title, description, assigned_to, status, priority, due_date, tags,
    estimated_hours, parent_task_id, recurrence, position, series_id, occurrence_index, recurrence_of, created_by, completed_at)
  select key.item_id, place.project_id, place.team_id, g.title, g.description, g.assigned_to, coalesce(g.status, 'todo'),
    coalesce(g.priority, 'medium'), g.due_date, coalesce(g.tags, '{}'), g.estimated_hours, g.parent_task_id, g.recurrence,
    g.position, g.series_id, g.occurrence_index, g.recurrence_of, g.user_id,
    case g.status when 'done' then now() end
  from key, place, given g
  returning task_id, title, team_id, project_id, task_json(tasks) as json
), recorded as (
  select record_change($1::jsonb, jsonb_build_object('team_id', m.team_id, 'project_id', m.project_id, 'feature', 'tasks',
    'action', 'create', 'entity_type', 'task', 'entity_id', m.task_id, 'title', m.title, 'summary', 'created the task',
    'details', jsonb_build_object('title', m.title),
    'event', jsonb_build_object('type', 'task.created', 'payload', jsonb_build_object('task', m.json, 'changes', '{}'::jsonb)))) as audit_id
  from made m
)
select v.*, (select audit_id from recorded) as audit_id, (select json::text from made) as created,
  (select (e.t).project_id = g.project_id and (e.t).deleted_at is null from existing e) as replay,
  (select (e.t).project_id = g.project_id from existing e) as same_project,
  (select task_json(e.t)::text from existing e) as stored
from verdict v, given g`,
};
