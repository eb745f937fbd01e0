import { defineStatement } from '../../../../db/statement.js';

/** $1 = team id. Reads one delivery of each bound repository, as `list_forge_deliveries` reads many. */
export const lastDeliveriesStatement = defineStatement({
  name: 'last_forge_deliveries',
  text: /* sql */ `
    select distinct on (d.repo) d.repo, d.event, d.outcome, d.reason, d.received_at
    from (
      select d.repo, d.receipt_id, d.event, d.outcome, d.reason, d.received_at
      from (select repo, min(created_at) as bound_at, uuidv7(min(created_at) - now() - interval '1 minute') as first_id
        from forge_repositories where team_id = $1 group by repo) b
      cross join lateral (select * from forge_deliveries d
        where (d.repo, d.receipt_id) between (b.repo, b.first_id) and (b.repo, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
          and d.received_at >= b.bound_at
        order by d.repo desc, d.receipt_id desc limit 1) d
      union all
      select b.repo, d.receipt_id, d.event, d.outcome, d.reason, d.received_at
      from forge_repositories b cross join lateral (select * from forge_address_deliveries d
        where d.binding_id = b.binding_id order by d.receipt_id desc limit 1) d
      where b.team_id = $1
    ) d order by d.repo, d.receipt_id desc`,
});
