import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { ForgeDelivery } from '../schema.js';

/** What is known of the newest delivery of a repository. */
type LastDelivery = Pick<ForgeDelivery, 'event' | 'outcome' | 'reason' | 'received_at'>;

/** $1 = team id. Reads one delivery of each bound repository, as `list_forge_deliveries` reads many. */
const statement = defineStatement({
  name: 'last_forge_deliveries',
  text: /* sql */ `
    select d.repo, d.event, d.outcome, d.reason, d.received_at
    from (select repo, min(created_at) as bound_at, uuidv7(min(created_at) - now() - interval '1 minute') as first_id
      from forge_repositories where team_id = $1 group by repo) b
    cross join lateral (select * from forge_deliveries d
      where (d.repo, d.receipt_id) between (b.repo, b.first_id) and (b.repo, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        and d.received_at >= b.bound_at
      order by d.repo desc, d.receipt_id desc limit 1) d`,
});

/**
 * Returns the newest delivery of each of the team's repositories that has any, by the repository's name.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function lastDeliveries(ctx: Context, teamId: string): Promise<Record<string, LastDelivery>> {
  authorize('forge.read', await seatInTeam(ctx, teamId));
  type Row = Omit<LastDelivery, 'received_at'> & { repo: string; received_at: Date };
  const rows = await run<Row>(ctx.db, statement, [teamId]);
  return Object.fromEntries(
    rows.map(({ repo, received_at, ...row }) => [repo, { ...row, received_at: received_at.toISOString() }]),
  );
}
