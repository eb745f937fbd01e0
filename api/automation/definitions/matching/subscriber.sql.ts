import { defineStatement } from '../../../../db/statement.js';

const SUBSCRIBED = /* sql */ `o.is_quiet is not true and a.is_active and a.deleted_at is null
  and a.trigger_type = any((select e.triggers from event_types e where e.event_type = o.subject)::text[])`;

/**
 * Enabled automations of the event's team or its live project, and personal ones of the user who caused it. A delivery may
 * concern several projects of a team. What an import writes is quiet, unless its importer asked otherwise. The payload decides later whether a change means a trigger such as task.completed. Each
 * branch uses an index, so that an event reads neither other teams' automations nor those of other projects.
 */
export const AUDIENCE = /* sql */ `
  select a.automation_id as subscriber_id, a.version from automations a
  where a.team_id = o.team_id and a.project_id is null and ${SUBSCRIBED}
  union all
  select a.automation_id, a.version
  from projects p cross join lateral (
    -- OFFSET 0 forces the planner to read the project first.
    select a.* from automations a where a.project_id = p.project_id and ${SUBSCRIBED} offset 0
  ) a
  where p.project_id = any(coalesce(o.project_ids, array[o.project_id])) and p.deleted_at is null
    and (a.team_id = o.team_id or a.team_id is null and a.created_by = o.actor_id)
  union all
  select a.automation_id, a.version from automations a
  where a.team_id is null and a.created_by = o.actor_id and a.project_id is null and ${SUBSCRIBED}`;

/** Name and number of actions are the version's; `create_runs` reads the owner from the automation's row. */
export const definitionsStatement = defineStatement({
  name: 'automation_definitions',
  text: /* sql */ `
    select v.automation_id as subscriber_id, v.version, v.name, v.trigger_type, v.condition, jsonb_array_length(v.actions) as actions
    from unnest($1::uuid[], $2::int[]) as wanted(id, version)
    join automation_versions v on v.automation_id = wanted.id and v.version = wanted.version`,
});
