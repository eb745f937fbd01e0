import { run, type Statement } from '../../../db/statement.js';
import { authorize } from '../../core/access.js';
import type { Context } from '../../core/context.js';
import { seatInTeam } from '../../core/seats.js';
import type { ForgeDelivery, ListDeliveries } from '../schema.js';

/**
 * $1 team, $2 most rows, $3 rows to skip. Of each repository the newest come out of an index; others' deliveries are not looked at.
 * Runs are found through their event, which names the receipt (publish-event.ts); only the team's own are shown.
 * What came before the team bound the repository is not the team's to read.
 */
const statement: Statement = {
  name: 'list_forge_deliveries',
  text: /* sql */ `
    select d.delivery_id, d.event, d.normalized, d.repo, d.received_at, d.outcome, d.reason,
      array(select r.run_id::text from automation_runs r
        where r.team_id = $1 and r.event->>'receipt_id' = d.receipt_id::text order by r.queued_at, r.run_id) as armed_runs
    from (
      -- Ids of receipts begin with their time: the index ends, a minute early, where the binding begins.
      select repo, min(created_at) as bound_at, uuidv7(min(created_at) - now() - interval '1 minute') as first_id
      from forge_repositories where team_id = $1 group by repo
    ) b
    cross join lateral (
      -- As a range of both columns, which only the one index has: by the repository alone the planner may walk along all receipts.
      select * from forge_deliveries d
      where (d.repo, d.receipt_id) between (b.repo, b.first_id)
        and (b.repo, 'ffffffff-ffff-ffff-ffff-ffffffffffff') and d.received_at >= b.bound_at
      order by d.repo desc, d.receipt_id desc limit $2::int + $3::int
    ) d
    order by d.receipt_id desc limit $2 offset $3`,
};

/**
 * What came from the team's repositories, newest first: why did it fire, why not.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 * Source: decision H1.
 */
export async function listDeliveries(ctx: Context, { team_id, limit, offset }: ListDeliveries): Promise<ForgeDelivery[]> {
  authorize('forge.read', await seatInTeam(ctx, team_id));
  type Row = Omit<ForgeDelivery, 'received_at'> & { received_at: Date };
  const rows = await run<Row>(ctx.db, statement, [team_id, limit, offset]);
  return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString() }));
}
