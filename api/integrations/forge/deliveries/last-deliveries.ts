import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { ForgeDelivery } from '../schema.js';
import { lastDeliveriesStatement } from './list-deliveries.sql.js';

/** What is known of the newest delivery of a repository. */
type LastDelivery = Pick<ForgeDelivery, 'event' | 'outcome' | 'reason' | 'received_at'>;

/**
 * Returns the newest delivery of each of the team's repositories that has any, by the repository's name.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function lastDeliveries(ctx: Context, teamId: string): Promise<Record<string, LastDelivery>> {
  authorize('forge.read', await seatInTeam(ctx, teamId));
  type Row = Omit<LastDelivery, 'received_at'> & { repo: string; received_at: Date };
  const rows = await run<Row>(ctx.db, lastDeliveriesStatement, [teamId]);
  return Object.fromEntries(
    rows.map(({ repo, received_at, ...row }) => [repo, { ...row, received_at: received_at.toISOString() }]),
  );
}
