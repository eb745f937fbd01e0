import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { ForgeDelivery, ListDeliveries } from '../schema.js';
import { listDeliveriesStatement } from './list-deliveries.sql.js';

/**
 * Lists the deliveries of the team's repositories with their outcomes, newest first.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listDeliveries(ctx: Context, { team_id, limit, offset }: ListDeliveries): Promise<ForgeDelivery[]> {
  authorize('forge.read', await seatInTeam(ctx, team_id));
  type Row = Omit<ForgeDelivery, 'received_at'> & { received_at: Date };
  const rows = await run<Row>(ctx.db, listDeliveriesStatement, [team_id, limit, offset]);
  return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString() }));
}
