import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';

/**
 * Writers lock a task before a membership, so the removed member's tasks are locked first (docs/decisions/platform.md#lock-order). The lock
 * does not block foreign keys, such as those of new subtasks.
 */
export const lockOpenTasksStatement = defineStatement({
  name: 'lock_tasks_of_former_member',
  text: /* sql */ `
    select task_id from tasks where team_id = $1 and assigned_to = $2 and status <> 'done' order by task_id for no key update`,
});

/**
 * $1 = caller (jsonb), $2 = team id, $3 = user id, $4 = new assignee or null. Includes tasks in the trash, with an audit entry but
 * no event.
 */
export const unassignTasksStatement = defineStatement({
  name: 'unassign_tasks_of_former_member',
  text: /* sql */ `
with changed as (
  update tasks t set assigned_to = $4, version = version + 1, updated_at = now()
  where team_id = $2 and assigned_to = $3 and status <> 'done'
  returning t.task_id, t.title, t.project_id, t.deleted_at is null as live, t.version, task_json(t) as json
), recorded as (
  select c.*, jsonb_build_object('assigned_to', jsonb_build_object('from', $3::uuid, 'to', $4::uuid)) as changes from changed c
)
select count(*) filter (where live) as live, record_changes($1::jsonb, array_agg(make_change(team_id => $2::uuid,
  project_id => project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
    entity_id => task_id, title => title,
  details => jsonb_build_object('changes', changes, 'version', version), summary => case when live then 'changed assigned_to' end,
  event_type => case when live then ${eventType('task.updated')} end, payload => jsonb_build_object('task', json, 'changes', changes)))) as audit_id
from recorded`,
});
