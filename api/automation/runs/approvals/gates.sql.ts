import { defineStatement } from '../../../../db/statement.js';
import { eventType } from '../../../platform/changes/make-change.sql.js';

/**
 * Marks a gate as expired and writes the event, once. $1 = run id, $2 = gate index. Locks the run before the gate, as every decision does: a run that has ended
 * at its gate has been counted.
 */
const EXPIRE_GATE = /* sql */ `open as materialized (
      select r.run_id from automation_runs r where r.run_id = $1 and r.finished_at is null and exists (select from gates g
        where g.run_id = $1 and g.gate_index = $2 and g.decision is null and g.lapsed_at is null and g.expires_at <= now()) for no key update
    ), expired as (
      -- Only a mark: each approval is judged by "expires_at" itself.
      update gates g set lapsed_at = now() from open
      where g.run_id = open.run_id and g.gate_index = $2 and g.decision is null and g.lapsed_at is null and g.expires_at <= now()
      returning g.run_id, g.gate_index, g.required_role, g.expires_at
    ), sent as (
      select enqueue_events(jsonb_build_object('correlation_id', r.correlation_id), array[make_change(team_id => r.team_id,
        project_id => r.project_id, feature => null, action => null, entity_type => null, entity_id => null,
        event_type => ${eventType('approval.expired')}, payload => jsonb_build_object('entity_type', 'automation_run', 'entity_id', r.run_id,
          'changes', '{}'::jsonb, 'object', jsonb_build_object('run_id', r.run_id, 'automation_id', r.automation_id,
            'automation_name', r.automation_name, 'gate_index', l.gate_index, 'required_role', l.required_role,
            'expires_at', l.expires_at)))]) as events
      from expired l join automation_runs r using (run_id)
    )`;

/** $1 = run id, $2 = gate index. */
export const expireGateStatement = defineStatement({
  name: 'expire_gate',
  text: `with ${EXPIRE_GATE} select sum(events) as events from sent`,
});

/**
 * Reads a gate's row by the database's clock. $1 = run id, $2 = gate index, $3 = days until an expired gate ends its run.
 * `ms_left` counts to the next step: the reminder, then the expiry, then the end of the run.
 */
export const readGateStatement = defineStatement({
  name: 'read_gate',
  text: /* sql */ `
    with ${EXPIRE_GATE}
    select (select sum(events) from sent) as events, r.status, r.finished_at is not null as finished, g.decision, g.required_role, g.expires_at, g.decided_at,
      g.expires_at <= now() as expired,
      g.expires_at + make_interval(days => $3::int) <= now() as overdue,
      (select count(*)::int from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index) as approvals,
      case g.decision when 'rejected' then array[g.decided_by]
        else array(select p.user_id from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index order by p.approved_at) end as decided_by,
      next.reminds, g.required_approvals, next.reminds and g.remind_at <= now() as remind_due,
      ceil(extract(epoch from (case when g.expires_at <= now() then g.expires_at + make_interval(days => $3::int)
        when next.reminds then g.remind_at else g.expires_at end) - now()) * 1000)::bigint as ms_left
    from gates g join automation_runs r using (run_id)
    cross join lateral (select g.decision is null and g.reminded_at is null and coalesce(g.remind_at < g.expires_at, false)
      and g.expires_at > now() as reminds) next
    where g.run_id = $1 and g.gate_index = $2`,
});
