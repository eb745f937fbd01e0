import { defineStatement } from '../../../../db/statement.js';

/**
 * Opens a decided gate again for as long as it was open, without its approvals and its text. $1 = run id, $2 = gate index. The caller has locked
 * the run. Actions that are done stay done; the others wait behind the gate again.
 */
export const reopenGateStatement = defineStatement({
  name: 'reopen_gate',
  text: /* sql */ `
with opened as (
  update gates set decision = null, decided_by = null, decided_at = null, requested_at = now(), expires_at = now() + (expires_at - requested_at),
    remind_at = now() + (remind_at - requested_at), reminded_at = null, lapsed_at = null, staged = null, staged_hash = null, staged_tried = false,
    known_versions = null, reopened = reopened + 1
  where run_id = $1::uuid and gate_index = $2::int
  returning required_role, required_approvals, message, expires_at
), voided as (
  delete from gate_approvals where run_id = $1::uuid and gate_index = $2::int
), waiting as (
  update run_actions set status = case when index = $2::int then 'running' else 'staged' end, finished_at = null,
    attempts = case when index = $2::int then attempts else 0 end, due_at = null, error = null
  where run_id = $1::uuid and (index = $2::int or index > $2::int and status not in ('succeeded', 'failed', 'skipped'))
), paused as (
  update automation_runs r set status = 'paused', gate_expires_at = o.expires_at from opened o where r.run_id = $1::uuid
)
select * from opened`,
});
