import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';

/** Tasks that leave a stage in one transaction. */
export const BATCH = 500;

/**
 * $1 = caller (jsonb), $2 = team id, $3 = stage id. Takes the first tasks out of a stage, each with its trace; those in the trash too, with an audit
 * entry but no event. Returns their number.
 */
export const leaveStageStatement = defineStatement({
  name: 'leave_stage',
  text: /* sql */ `
with batch as materialized (
  select t.task_id from tasks t where t.stage_id = $3 order by t.task_id limit ${BATCH} for no key update
), changed as (
  update tasks t set stage_id = null, version = t.version + 1, updated_at = now()
  from batch b where t.task_id = b.task_id
  returning t.task_id, t.title, t.project_id, t.deleted_at is null as live, t.version, task_json(t) as json,
    jsonb_build_object('stage_id', jsonb_build_object('from', $3::uuid, 'to', null)) as changes
)
select count(*)::int as count, record_changes($1::jsonb, array_agg(make_change(team_id => $2::uuid, project_id => project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })},
    entity_id => task_id, title => title,
    details => jsonb_build_object('changes', changes, 'version', version), summary => case when live then 'changed stage_id' end,
    event_type => case when live then ${eventType('task.updated')} end, payload => jsonb_build_object('task', json, 'changes', changes)))) as audit_id
from changed having count(*) > 0`,
});
