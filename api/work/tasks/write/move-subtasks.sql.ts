import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { dueAgain } from '../../../platform/events/due-people.sql.js';

/**
 * $1 = caller (jsonb), $2 = task id, $3 = project id. Moves all descendants, including those in the trash, which get an audit
 * entry but no event. update-task.sql.ts moves the task itself.
 */
export const moveSubtasksStatement = defineStatement({
  name: 'move_subtasks',
  text: /* sql */ `
with recursive below as (
  select c.task_id from tasks c where c.parent_task_id = $2
  union all
  select c.task_id from below b join tasks c on c.parent_task_id = b.task_id
), moved as (
  update tasks t set project_id = $3, version = t.version + 1, updated_at = now(), due_set_by = ${dueAgain('$1::jsonb')}
  from below b where t.task_id = b.task_id
  returning t.task_id, t.title, t.team_id, t.project_id, t.version, t.deleted_at is null as live, task_json(t) as json,
    jsonb_build_object('project_id', jsonb_build_object('from', old.project_id, 'to', new.project_id))
      || case when old.cycle_id is distinct from new.cycle_id
        then jsonb_build_object('cycle_id', jsonb_build_object('from', old.cycle_id, 'to', new.cycle_id)) else '{}' end as changes
)
select record_changes($1::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
    entity_id => task_id, title => title,
  details => jsonb_build_object('changes', changes, 'version', version), summary => case when live then 'changed project_id' end,
  event_type => case when live then ${eventType('task.updated')} end, payload => jsonb_build_object('task', json, 'changes', changes)))) as audit_id
from moved`,
});
