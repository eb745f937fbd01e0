import type { Webhook } from '../../../../db/models/webhook.js';
import { run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { readWebhook } from '../read-webhook.js';
import { recordWebhookChange } from '../record-webhook-change.js';
import type { DeliveryRecord } from '../schema.js';
import { readDelivery } from './get-delivery.js';
import { presentDelivery } from './present.js';
import { attemptNowStatement, redeliverStatement } from './redeliver.sql.js';

/** @throws RESOURCE_CONFLICT */
export function requireActive({ is_active }: Pick<Webhook, 'is_active'>): void {
  if (!is_active) throw conflict('The webhook is disabled', { detail: 'Enable it first; then repeat the request.' });
}

/**
 * Sends a delivery again under the same `webhook-id`: one that ended gets the whole timetable again, a pending one its next attempt at
 * once (docs/decisions/integrations.md#webhook-deliveries).
 * @throws RESOURCE_NOT_FOUND endpoint or delivery | PERMISSION_DENIED below admin | RESOURCE_CONFLICT disabled
 */
export function redeliver(ctx: Context, webhookId: string, deliveryId: string): Promise<DeliveryRecord> {
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    const { event_id, event_type, status } = await readDelivery(ctx, webhookId, deliveryId);
    requireActive(webhook);
    await run(ctx.db, redeliverStatement, [webhookId, event_id]);
    await run(ctx.db, attemptNowStatement, [webhookId, event_id]);
    await recordWebhookChange(ctx, webhook, 'retry', { delivery_id: deliveryId, event_id, event_type, status });
    return presentDelivery(await readDelivery(ctx, webhookId, deliveryId), true);
  });
}
