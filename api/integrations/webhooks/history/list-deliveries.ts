import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { readWebhook } from '../read-webhook.js';
import type { DeliveryRecord, ListDeliveries } from '../schema.js';
import { listDeliveriesStatement } from './deliveries.sql.js';
import { presentDelivery, type StoredDelivery } from './present.js';

const STATES = ['pending', 'succeeded', 'failed'];
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Lists the deliveries to an endpoint, those of the newest events first.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export async function listDeliveries(
  ctx: Context,
  webhookId: string,
  { status, before, limit }: ListDeliveries,
): Promise<DeliveryRecord[]> {
  const { is_active } = await readWebhook(ctx, 'webhook.read', webhookId);
  const values = [webhookId, status ? [status] : STATES, before ?? HIGHEST_ID, limit];
  const rows = await run<StoredDelivery>(ctx.db, listDeliveriesStatement, values);
  return rows.map((row) => presentDelivery({ ...row, webhook_id: webhookId }, is_active));
}
