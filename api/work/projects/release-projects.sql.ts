import { defineStatement } from '../../../db/statement.js';
import { eventType, kindOfChange } from '../../platform/changes/make-change.sql.js';
import { PROJECT_JSON } from './project-json.js';

/** $1 = team id, $2 = user id. As `lockOpenTasksStatement`: writers lock a project before a membership. */
export const lockLedStatement = defineStatement({
  name: 'lock_projects_of_former_lead',
  text: 'select project_id from projects where team_id = $1 and lead_id = $2 order by project_id for no key update',
});

/**
 * $1 = caller (jsonb), $2 = team id, $3 = user id, $4 = new lead or null. Includes projects in the trash, with an audit entry but no event.
 */
export const releaseLedStatement = defineStatement({
  name: 'release_projects_of_former_lead',
  text: /* sql */ `
with changed as (
  update projects p set lead_id = $4, version = version + 1, updated_at = now() where team_id = $2 and lead_id = $3
  returning p.project_id, p.name, p.deleted_at is null as live, p.version, ${PROJECT_JSON} as json
), recorded as (
  select c.*, jsonb_build_object('lead_id', jsonb_build_object('from', $3::uuid, 'to', $4::uuid)) as changes from changed c
)
select count(*) filter (where live) as live, record_changes($1::jsonb, array_agg(make_change(team_id => $2::uuid,
  project_id => project_id,
    ${kindOfChange({ feature: 'projects', action: 'update', entityType: 'project' })},
    entity_id => project_id::text, title => name,
  details => jsonb_build_object('changes', changes, 'version', version), summary => case when live then 'changed lead_id' end,
  event_type => case when live then ${eventType('project.updated')} end, payload => jsonb_build_object('project', json, 'changes', changes)))) as audit_id
from recorded`,
});
