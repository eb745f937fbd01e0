import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { readWebhook } from '../read-webhook.js';
import { bodyFor } from '../events/slack.js';
import type { DeliveryDetail } from '../schema.js';
import { readDeliveryStatement } from './deliveries.sql.js';
import { eventIdOfDelivery } from './delivery-id.js';
import { presentDetail, type StoredDelivery } from './present.js';

type StoredDetail = StoredDelivery & { request_body: string };

/** Reads a delivery of an endpoint. @throws RESOURCE_NOT_FOUND */
export async function readDelivery(
  ctx: Pick<Context, 'db'>,
  webhookId: string,
  deliveryId: string,
): Promise<StoredDetail & { webhook_id: string }> {
  const [row] = await run<StoredDetail>(ctx.db, readDeliveryStatement, [webhookId, eventIdOfDelivery(webhookId, deliveryId)]);
  if (!row) throw notFound('Delivery');
  return { ...row, webhook_id: webhookId };
}

/**
 * Returns a delivery with what was sent and what the receiver answered.
 * @throws RESOURCE_NOT_FOUND endpoint or delivery | PERMISSION_DENIED below admin
 */
export async function getDelivery(ctx: Context, webhookId: string, deliveryId: string): Promise<DeliveryDetail> {
  const { is_active, format } = await readWebhook(ctx, 'webhook.read', webhookId);
  const stored = await readDelivery(ctx, webhookId, deliveryId);
  return presentDetail({ ...stored, request_body: bodyFor(ctx.config, format, stored.request_body) }, is_active);
}
