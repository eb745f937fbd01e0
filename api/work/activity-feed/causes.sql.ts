import { defineStatement } from '../../../db/statement.js';
import { CUSTOM_FIELD_PREFIX } from '../custom-fields/rules.js';

/** Larger details, of changed long texts, are not parsed for a line. */
const MAX_DETAILS_BYTES = 65_536;
/** Largest difference of a field that a line tells, as JSON. */
const MAX_DIFFERENCE_BYTES = 300;

/** The user `id` as JSON, or null. A name is shown to members of the team, of each other. */
const person = (id: string): string => /* sql */ `
        (select jsonb_build_object('user_id', u.user_id, 'name', case when u.user_id = $1 or exists (
          select from memberships m where m.team_id = e.team_id and m.user_id = u.user_id) then u.name end)
        from users u where u.user_id = ${id})`;

/**
 * What caused changes, what they changed, and the run that a rejection ended, from their audit entries. $1 = caller id, who may read the lines; $2 = audit ids, $3 = ids of the
 * lines, in the same order; $4 = fields whose values are told, besides custom fields; $5 = types of entities whose fields every member may read. Each step is a look-up
 * by key.
 *
 * The gate that released an action is the last one of its run that was approved before. The name of an automation is told of one of the same
 * team, whose members may read it, and of the caller's own.
 */
export const causesStatement = defineStatement({
  name: 'activity_causes',
  text: /* sql */ `
    select e.audit_id, d.changes, case
      when e.actor_type = 'automation' then jsonb_build_object('type', 'automation', 'automation_id', a.automation_id, 'automation_name', a.name,
        'run_id', case when a.automation_id is not null then e.run_id end, 'action_id', null, 'for_user', ${person('e.user_id')},
        'triggered_by', case when a.automation_id is not null then ${person('r.triggered_by')} end,
        'approvers', g.people)
      when e.action_id is not null then jsonb_build_object('type', 'plan', 'automation_id', null, 'automation_name', null, 'run_id', null,
        'action_id', e.action_id, 'for_user', ${person('p.staged_for')}, 'triggered_by', null,
        'approvers', case when p.decided_by is null then '[]' else jsonb_build_array(${person('p.decided_by')}) end)
      end as cause,
      case when e.is_rejection and r.run_id is not null and a.automation_id is not null then jsonb_build_object('run_id', r.run_id, 'automation_id', a.automation_id,
        'automation_name', a.name) end as rejected_run
    from unnest($2::uuid[], $3::uuid[]) as w(audit_id, activity_id)
    cross join lateral (
      select x.*, (c.caused_by->>'automation_id')::uuid as automation_id, (c.caused_by->>'run_id')::uuid as run_id,
        (c.caused_by->>'action_id')::uuid as action_id, c.is_rejection
      from (
        select f.audit_id, f.team_id, f.user_id, f.actor_type, f.action, f.entity_type, f.details::jsonb as details from audit_entries f
        where f.audit_id = w.audit_id and octet_length(f.details) <= ${MAX_DETAILS_BYTES} limit 1
      ) x cross join lateral (
        -- A rejection of a gate leaves a line on each task that it kept from being changed.
        select x.action = 'reject' and x.entity_type = 'task' as is_rejection, case
          when x.action = 'reject' and x.entity_type = 'task' then x.details
          when x.actor_type in ('automation', 'agent') then x.details->'caused_by' end as caused_by
      ) c
    ) e
    left join lateral (
      select jsonb_object_agg(f.key, f.value) as changes from jsonb_each(
        case when e.entity_type = any($5::text[]) and jsonb_typeof(e.details->'changes') = 'object' then e.details->'changes' else '{}' end) f
      where (f.key = any($4::text[]) or starts_with(f.key, '${CUSTOM_FIELD_PREFIX}')) and f.value ? 'from' and octet_length(f.value::text) <= ${MAX_DIFFERENCE_BYTES}
    ) d on true
    left join lateral (select * from automation_runs s where s.run_id = e.run_id limit 1) r on true
    left join lateral (
      -- Its name at the time of the run, if that is kept.
      select m.automation_id, coalesce(r.automation_name, m.name) as name from automations m
      where m.automation_id = e.automation_id and (m.team_id = e.team_id or m.team_id is null and m.created_by = $1) limit 1
    ) a on true
    left join lateral (select * from agent_plans q where q.action_id = e.action_id limit 1) p on true
    left join lateral (
      select coalesce(jsonb_agg(${person('y.user_id')} order by y.approved_at), '[]') as people from (
        select h.run_id, h.gate_index from gates h
        where h.run_id = r.run_id and h.decision = 'approved' and h.decided_at <= uuid_extract_timestamp(w.activity_id) + interval '1 millisecond'
        order by h.gate_index desc limit 1
      ) o join gate_approvals y using (run_id, gate_index) where a.automation_id is not null
    ) g on true`,
});
