import { Webhook } from '../../db/models/webhook.js';
import { type Context, inTransaction } from '../core/context.js';
import { readWebhook } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';

/**
 * Deletes an endpoint with its pending deliveries. A request in progress may still arrive.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function deleteWebhook(ctx: Context, webhookId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    await webhook.$query(ctx.db).delete();
    await recordWebhookChange(ctx, webhook, 'delete');
  });
}

/** Deletes all endpoints of a team that the caller has locked. Returns their number. */
export const deleteWebhooksOfTeam = async ({ db }: Pick<Context, 'db'>, teamId: string): Promise<number> =>
  await Webhook.query(db).where({ team_id: teamId }).delete();
