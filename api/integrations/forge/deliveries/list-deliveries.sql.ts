import { defineStatement } from '../../../../db/statement.js';

/**
 * The newest deliveries of each repository that a team ($1) has bound, and of each address of the team, from indexes: at most `most` of each. A team may
 * not read deliveries from before its binding.
 */
const newestOfTeam = (most: string): string => /* sql */ `
      select d.receipt_id, d.delivery_id, d.event, d.normalized, d.repo, d.received_at, d.outcome, d.reason
      from (
        -- Receipt ids start with their time, so the index scan ends a minute before the binding.
        select repo, min(created_at) as bound_at, uuidv7(min(created_at) - now() - interval '1 minute') as first_id
        from forge_repositories where team_id = $1 group by repo
      ) b
      cross join lateral (
        -- A range of both columns, which only the right index supports; with the repository alone, the planner may scan all
        -- receipts.
        select * from forge_deliveries d
        where (d.repo, d.receipt_id) between (b.repo, b.first_id)
          and (b.repo, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and d.received_at >= b.bound_at
        order by d.repo desc, d.receipt_id desc limit ${most}
      ) d
      union all
      select d.receipt_id, d.delivery_id, d.event, d.normalized, b.repo, d.received_at, d.outcome, d.reason
      from forge_repositories b cross join lateral (
        select * from forge_address_deliveries d where d.binding_id = b.binding_id order by d.receipt_id desc limit ${most}
      ) d
      where b.team_id = $1`;

/** $1 = team id, $2 = limit, $3 = offset. Finds runs by the receipt in their event (publish-event.ts); shows only the team's own. */
export const listDeliveriesStatement = defineStatement({
  name: 'list_forge_deliveries',
  text: /* sql */ `
    select d.delivery_id, d.event, d.normalized, d.repo, d.received_at, d.outcome, d.reason,
      array(select r.run_id::text from automation_runs r
        where r.team_id = $1 and r.event->>'receipt_id' = d.receipt_id::text order by r.queued_at, r.run_id) as armed_runs
    from (${newestOfTeam('$2::int + $3::int')}
    ) d
    order by d.receipt_id desc limit $2 offset $3`,
});

/** $1 = team id. The newest delivery of each repository. */
export const lastDeliveriesStatement = defineStatement({
  name: 'last_forge_deliveries',
  text: /* sql */ `
    select distinct on (d.repo) d.repo, d.event, d.outcome, d.reason, d.received_at
    from (${newestOfTeam('1')}
    ) d
    order by d.repo, d.receipt_id desc`,
});
