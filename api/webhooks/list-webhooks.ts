import { WebhookHealth } from '../../db/models/webhook-health.js';
import { Webhook } from '../../db/models/webhook.js';
import { authorize } from '../core/access.js';
import type { Context } from '../core/context.js';
import { seatInTeam } from '../core/seats.js';
import { presentWebhook } from './present.js';
import type { WebhookRecord } from './schema.js';

/**
 * Lists a team's endpoints with their health, oldest first; at most 20 exist.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listWebhooks(ctx: Context, teamId: string): Promise<WebhookRecord[]> {
  authorize('webhook.read', await seatInTeam(ctx, teamId));
  const webhooks = await Webhook.query(ctx.db).where({ team_id: teamId }).orderBy('webhook_id');
  const ids = webhooks.map(({ webhook_id }) => webhook_id);
  const health = await WebhookHealth.query(ctx.db).whereIn('webhook_id', ids);
  const byId = new Map(health.map((each) => [each.webhook_id, each]));
  // One that was deleted between the two reads is gone.
  return webhooks.flatMap((webhook) => {
    const found = byId.get(webhook.webhook_id);
    return found ? [presentWebhook(webhook, found)] : [];
  });
}
