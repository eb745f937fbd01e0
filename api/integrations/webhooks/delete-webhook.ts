import { Webhook } from '../../../db/models/webhook.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { clearQueue } from './delivery/clear-queue.sql.js';
import { readWebhook } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';

/**
 * Deletes an endpoint with its pending deliveries: a thousand here, further ones by the workers. A request in progress may still arrive.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function deleteWebhook(ctx: Context, webhookId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    await webhook.$query(ctx.db).delete();
    await clearQueue(ctx, webhookId);
    await recordWebhookChange(ctx, webhook, 'delete');
  });
}

/** Deletes all endpoints of a team that the caller has locked. Returns their number. */
export async function deleteWebhooksOfTeam(ctx: Pick<Context, 'db'>, teamId: string): Promise<number> {
  const deleted = await Webhook.query(ctx.db).where({ team_id: teamId }).delete().returning('webhook_id');
  for (const { webhook_id } of deleted) await clearQueue(ctx, webhook_id);
  return deleted.length;
}
