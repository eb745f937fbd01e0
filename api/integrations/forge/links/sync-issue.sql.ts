import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = repository, $2 = issue number, $3 = this receipt's id, $4 = team of the address to which it came, or null. Returns the latest state of the
 * issue, by the code host's clock, among the deliveries of three days, applied or not. Code hosts redeliver for that long and keep no order
 * (docs/decisions/integrations.md#issue-order). What came to an address counts for its team alone.
 */
export const newestStatement = defineStatement({
  name: 'forge_newest_of_issue',
  text: /* sql */ `
    select receipt_id, normalized, payload->'issue'->>'state_reason' as reason from (
      select receipt_id, normalized, payload from forge_deliveries
      where repo = $1 and receipt_id >= (select least(uuidv7(interval '-3 days'), $3::uuid)) and outcome is distinct from 'duplicate'
      union all
      select d.receipt_id, d.normalized, d.payload from forge_repositories r join forge_address_deliveries d using (binding_id)
      where r.repo = $1 and r.team_id = $4::uuid and d.receipt_id >= (select least(uuidv7(interval '-3 days'), $3::uuid))
        and d.outcome is distinct from 'duplicate'
    ) d
    where normalized in ('forge.issue_opened', 'forge.issue_closed', 'forge.issue_reopened')
      and payload->'issue'->>'number' = $2::int::text
    order by payload->'issue'->>'updated_at' desc nulls last, receipt_id desc limit 1`,
});
