import { raw } from 'objection';
import { type Context, inTransaction } from '../core/context.js';
import { readWebhook, recordOf } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';
import type { WebhookWithSecret } from './schema.js';
import { newWebhookSecret, prefixOfSecret, sealWebhookSecret } from './secret.js';

const OVERLAP_HOURS = 24;

/**
 * Replaces the signing secret of an endpoint. The one before also signs for 24 hours; an older one ends at once. The new secret is only
 * in this response.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function rotateSecret(ctx: Context, webhookId: string): Promise<WebhookWithSecret> {
  const secret = newWebhookSecret();
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    const secret_prefix = prefixOfSecret(secret);
    await webhook.$query(ctx.db).patch({
      ...sealWebhookSecret(ctx.config, webhookId, secret),
      secret_prefix,
      previous_data_key: webhook.data_key,
      previous_sealed_value: webhook.sealed_value,
      previous_until: raw('now() + make_interval(hours => ?)', OVERLAP_HOURS),
      updated_at: raw('now()'),
    });
    await recordWebhookChange(ctx, webhook, 'rotate', { secret_prefix, overlap_hours: OVERLAP_HOURS });
    return { ...(await recordOf(ctx, webhookId)), secret };
  });
}
