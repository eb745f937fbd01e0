import { defineStatement } from '../../../../db/statement.js';
import { wakeRun } from '../record/wake-run.sql.js';

/**
 * $1 = user id, $2 = team id, or null for all teams and personal runs, $3 = gate roles that the user keeps, $4 = correlation id.
 * Waits for a concurrent decision of a gate, which keeps its approvals. Wakes the workflows only to update the number of missing
 * approvals.
 */
export const voidApprovalsStatement = defineStatement({
  name: 'void_approvals',
  text: /* sql */ `
with open as (
  select g.run_id, g.gate_index, r.incarnation
  from gate_approvals p join gates g using (run_id, gate_index) join automation_runs r using (run_id)
  where p.user_id = $1 and g.decision is null and r.finished_at is null
    and ($2::uuid is null or r.team_id = $2 and g.required_role <> all($3::text[]))
  order by g.run_id, g.gate_index for update of g
), voided as (
  delete from gate_approvals p using open o where p.run_id = o.run_id and p.gate_index = o.gate_index and p.user_id = $1
), woken as (${wakeRun({ gateIndex: 'gate_index', correlationId: '$4::uuid', from: 'from open' })}
)
select count(*)::int as voided from open`,
});
