import { defineStatement } from '../../../../db/statement.js';
import { wakeRun } from '../record/wake-run.sql.js';

/**
 * Rejects a gate by compare-and-set, with everything that follows from it, in one round trip: the run ends and the staged actions
 * never run. $1 = run id, $2 = gate index, $3 = caller id, $4 = reason or null, $5 = status, $6 = skip reason and $7 = error
 * (jsonb) of the run, $8 = caller (jsonb), $9 = change (jsonb), $10 = incarnation. The caller has locked the run's row and seen
 * the gate undecided; the condition repeats that check.
 */
export const rejectStatement = defineStatement({
  name: 'reject_gate',
  text: /* sql */ `
with decided as (
  update gates set decision = 'rejected', decided_by = $3, decided_at = clock_timestamp(), reason = $4
  where run_id = $1::uuid and gate_index = $2::int and decision is null
  returning decided_at
), skipped as (
  update run_actions set status = 'skipped' from decided where run_id = $1::uuid and status in ('pending', 'running', 'staged')
), ended as (
  update automation_runs set status = $5, skip_reason = $6, error = $7::jsonb, finished_at = clock_timestamp()
  from decided where run_id = $1::uuid
), woken as (${wakeRun({
    runId: '$1::uuid',
    incarnation: '$10::int',
    gateIndex: '$2::int',
    correlationId: "($8::jsonb->>'correlation_id')::uuid",
    from: 'from decided',
  })}
)
select decided_at, record_change($8::jsonb, $9::jsonb) as audit_id from decided`,
});
