import { defineStatement } from '../../../../../db/statement.js';
import { wakeRun } from '../../record/wake-run.sql.js';

/**
 * Opens an expired gate again for as long as it was open, without its approvals, its text and the versions that its first yes has stored: they belong
 * to what was asked before. $1 = run id, $2 = gate index, $3 = caller id, who counts among the people behind the run from now on, $4 = correlation id.
 * The caller has locked the run.
 */
export const askAgainStatement = defineStatement({
  name: 'ask_again',
  text: /* sql */ `
with opened as (
  update gates set requested_at = now(), expires_at = now() + (expires_at - requested_at),
    remind_at = now() + (remind_at - requested_at), reminded_at = null, lapsed_at = null, staged = null, staged_hash = null, staged_tried = false,
    known_versions = null
  where run_id = $1::uuid and gate_index = $2::int and decision is null and expires_at <= now()
  returning required_role, required_approvals, message, expires_at
), voided as (
  delete from gate_approvals p using opened where p.run_id = $1::uuid and p.gate_index = $2::int
), moved as (
  update automation_runs r set gate_expires_at = o.expires_at,
    cause_user_ids = case when $3::uuid = any(r.cause_user_ids) then r.cause_user_ids else array_append(r.cause_user_ids, $3::uuid) end
  from opened o where r.run_id = $1::uuid
  returning r.incarnation
), woken as (${wakeRun({ runId: '$1::uuid', gateIndex: '$2::int', correlationId: '$4::uuid', from: 'from moved' })}
)
select * from opened`,
});
