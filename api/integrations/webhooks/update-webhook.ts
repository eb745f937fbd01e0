import { WebhookHealth } from '../../../db/models/webhook-health.js';
import type { Webhook } from '../../../db/models/webhook.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { checkWebhookUrl } from './policy.js';
import { readWebhook, toRecord } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';
import type { UpdateWebhook, WebhookRecord } from './schema.js';

/** Returns the fields that differ from the stored ones. */
function listChanges(
  webhook: Webhook,
  input: UpdateWebhook,
): Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'format' | 'is_active'>> {
  const { url, events, description, format, is_active } = input;
  return {
    ...(url !== undefined && url !== webhook.url && { url }),
    ...(events !== undefined && events.join() !== webhook.events.join() && { events }),
    ...(description !== undefined && (description || null) !== webhook.description && { description: description || null }),
    ...(format !== undefined && format !== webhook.format && { format }),
    ...(is_active !== undefined && is_active !== webhook.is_active && { is_active }),
  };
}

/**
 * Changes an endpoint. Pending deliveries wait while it is disabled, and go to the new address. Enabling it, or a new address, forgets
 * the failures so far. `null` clears the description.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | VALIDATION_ERROR an address that is not public
 */
export async function updateWebhook(ctx: Context, webhookId: string, input: UpdateWebhook): Promise<WebhookRecord> {
  const stored = await readWebhook(ctx, 'webhook.write', webhookId);
  if (input.url !== undefined && input.url !== stored.url) await checkWebhookUrl(ctx.config, input.url);
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    const changes = listChanges(webhook, input);
    // An admin who switches it either way has seen the reason.
    const clearsReason = input.is_active !== undefined && webhook.disabled_reason !== null;
    if (Object.keys(changes).length === 0 && !clearsReason) return toRecord(ctx, webhookId);
    const cleared = input.is_active === undefined ? {} : { disabled_reason: null };
    await webhook.$query(ctx.db).patch({ ...changes, ...cleared, updated_at: new Date() });
    if (changes.is_active === true || changes.url !== undefined) {
      await WebhookHealth.query(ctx.db).findById(webhookId).patch({ failure_count: 0, failing_since: null });
    }
    const isToggled = Object.keys(changes).join() === 'is_active';
    const { url, ...others } = changes;
    await recordWebhookChange(ctx, webhook, isToggled ? 'toggle' : 'update', {
      ...others,
      ...(url !== undefined && { url_changed: true, previous_host: new URL(stored.url).host }),
    });
    return toRecord(ctx, webhookId);
  });
}
