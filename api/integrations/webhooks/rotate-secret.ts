import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { readWebhook, toRecord } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';
import type { WebhookWithSecret } from './schema.js';
import { newWebhookSecret, prefixOfSecret, sealWebhookSecret } from './secret.js';

/** Time for which the secret before a rotation still counts. */
export const OVERLAP_HOURS = 24;

/** $1 = endpoint id, $2 = data key, $3 = value, $4 = prefix. The end of the overlap is by the database's clock, as the claim reads it. */
const rotateStatement = defineStatement({
  name: 'rotate_webhook_secret',
  text: /* sql */ `
    update webhooks set data_key = $2, sealed_value = $3, secret_prefix = $4, updated_at = now(), previous_data_key = data_key,
      previous_sealed_value = sealed_value, previous_until = now() + interval '${OVERLAP_HOURS} hours'
    where webhook_id = $1`,
});

/**
 * Replaces the signing secret of an endpoint. The one before also signs for 24 hours; an older one ends at once. The new secret is only
 * in this response.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function rotateSecret(ctx: Context, webhookId: string): Promise<WebhookWithSecret> {
  const secret = newWebhookSecret();
  const secret_prefix = prefixOfSecret(secret);
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    const { data_key, sealed_value } = sealWebhookSecret(ctx.config, webhookId, secret);
    await run(ctx.db, rotateStatement, [webhookId, data_key, sealed_value, secret_prefix]);
    await recordWebhookChange(ctx, webhook, 'rotate', { secret_prefix, overlap_hours: OVERLAP_HOURS });
    return { ...(await toRecord(ctx, webhookId)), secret };
  });
}
