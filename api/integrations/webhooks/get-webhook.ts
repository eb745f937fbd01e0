import type { Context } from '../../platform/context.js';
import { readWebhook, toRecord } from './read-webhook.js';
import type { WebhookRecord } from './schema.js';

/**
 * Returns an endpoint with its health.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export async function getWebhook(ctx: Context, webhookId: string): Promise<WebhookRecord> {
  await readWebhook(ctx, 'webhook.read', webhookId);
  return toRecord(ctx, webhookId);
}
