import { defineStatement } from '../../../../db/statement.js';
import { wakeRun } from '../record/wake-run.sql.js';

/**
 * Records an approval by compare-and-set, with everything that follows from it, in one round trip. $1 = run id, $2 = gate index,
 * $3 = caller id, $4 = team id or null, $5 = roles that count, $6 = caller (jsonb), $7 = change if this approval decides (jsonb),
 * $8 = incarnation, $9 = users whose approval does not count, $10 = comment or null. No row: the gate has expired. The caller has locked the run's row
 * (lock-gate.ts). Each user counts once; the last approval needed decides. A user who loses the role loses the approval
 * (void-approvals.ts); this statement checks the role again all the same.
 */
export const approveStatement = defineStatement({
  name: 'approve_gate',
  text: /* sql */ `
with held as (
  select g.required_approvals, g.expires_at from gates g
  where g.run_id = $1::uuid and g.gate_index = $2::int and g.decision is null for update
), open as materialized (
  -- The clock is read once, after the lock: the time that is judged is the time that is stored.
  select h.required_approvals, h.at from (select held.*, clock_timestamp() as at from held) h where h.expires_at > h.at
), mine as (
  insert into gate_approvals (run_id, gate_index, user_id, approved_at, comment)
  select $1::uuid, $2::int, $3, open.at, $10::text from open
  on conflict do nothing returning user_id, approved_at
), everyone as (
  select user_id, approved_at from mine
  union all
  select p.user_id, p.approved_at from gate_approvals p where p.run_id = $1::uuid and p.gate_index = $2::int
), counted as (
  select count(*)::int as approvals from everyone e join users u using (user_id)
  where u.status = 'active' and e.user_id <> all($9::uuid[]) and ($4::uuid is null
    or exists (select from memberships m where m.team_id = $4 and m.user_id = e.user_id and m.role = any($5::text[])))
), verdict as (
  select v.needed, v.needed = 0 or exists (select from mine) as says_something
  from (select greatest(open.required_approvals - c.approvals, 0) as needed from open, counted c) v
), decided as (
  update gates g set decision = 'approved', decided_by = $3, decided_at = open.at
  from open, verdict v where g.run_id = $1::uuid and g.gate_index = $2::int and v.needed = 0
  returning g.decided_at
), released as (
  -- Marks the gate as passed and releases the staged actions behind it.
  update run_actions a set status = case when a.index = $2::int then 'succeeded' else 'pending' end,
    finished_at = case when a.index = $2::int then decided.decided_at else a.finished_at end
  from decided where a.run_id = $1::uuid and (a.index = $2::int or (a.index > $2::int and a.status = 'staged'))
), going as (
  update automation_runs set status = 'running' from decided where run_id = $1::uuid
), woken as (${wakeRun({
    runId: '$1::uuid',
    incarnation: '$8::int',
    gateIndex: '$2::int',
    correlationId: "($6::jsonb->>'correlation_id')::uuid",
    // While more approvals are needed, the workflow only reads the gate again and shows how many are missing.
    from: 'from verdict v where v.says_something',
  })}
), recorded as (
  select record_change($6::jsonb, case when v.needed = 0 then $7::jsonb else $7::jsonb - 'event' end
    || jsonb_build_object('details', $7::jsonb->'details' || jsonb_build_object('approvals_needed', v.needed))) as audit_id
  from verdict v where v.says_something
)
select v.needed, (select audit_id from recorded) as audit_id,
  coalesce((select decided_at from decided), (select approved_at from everyone where user_id = $3)) as decided_at
from verdict v`,
});
