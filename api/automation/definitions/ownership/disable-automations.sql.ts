import { defineStatement } from '../../../../db/statement.js';
import { kindOfChange } from '../../../platform/changes/make-change.sql.js';

/**
 * $1 = creator id, $2 = team id, or null for all teams and personal ones. Locks disabled automations too, so that none is enabled
 * before the commit.
 */
export const lockAutomationsStatement = defineStatement({
  name: 'lock_automations_of_creator',
  text: /* sql */ `
    with held as (
      select is_active from automations
      where created_by = $1 and ($2::uuid is null or team_id = $2) and deleted_at is null order by automation_id for no key update
    )
    select (count(*) filter (where is_active))::int as enabled from held`,
});

/**
 * $1 = caller (jsonb), $2 = creator id, $3 = team id or null, $4 = the creator's change. Returns one row per team; writes an
 * audit entry for each automation.
 */
export const disableAutomationsStatement = defineStatement({
  name: 'disable_automations_of_creator',
  text: /* sql */ `
with gone as (
  update automations set is_active = false, disabled_reason = 'creator_left'
  where created_by = $2::uuid and ($3::uuid is null or team_id = $3) and is_active and deleted_at is null
  returning automation_id, name, team_id, project_id
), recorded as (
  select record_changes($1::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id,
    severity => 'MEDIUM', ${kindOfChange({ feature: 'automations', action: 'toggle', entityType: 'automation' })},
    entity_id => automation_id::text, title => name,
    summary => 'disabled the automation: its creator ' || $4,
    details => jsonb_build_object('is_active', false, 'disabled_reason', 'creator_left', 'creator_id', $2::uuid)))) as audit_id
  from gone
)
select g.team_id, u.display_name as creator, array_agg(g.name order by g.name) as names, (select audit_id from recorded) as audit_id
from gone g join users u on u.user_id = $2::uuid group by g.team_id, u.display_name`,
});
