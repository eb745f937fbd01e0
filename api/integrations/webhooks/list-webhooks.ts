import { WebhookHealth } from '../../../db/models/webhook-health.js';
import { Webhook } from '../../../db/models/webhook.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { presentWebhook } from './present.js';
import type { ListWebhooks, WebhookRecord } from './schema.js';

/**
 * Lists a team's endpoints with their health, oldest first; without a limit all of them, at most 20.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listWebhooks(
  ctx: Context,
  { team_id, limit = 500, offset = 0 }: Pick<ListWebhooks, 'team_id'> & Partial<ListWebhooks>,
): Promise<WebhookRecord[]> {
  authorize('webhook.read', await seatInTeam(ctx, team_id));
  const webhooks = await Webhook.query(ctx.db).where({ team_id }).orderBy('webhook_id').limit(limit).offset(offset);
  const ids = webhooks.map(({ webhook_id }) => webhook_id);
  const health = await WebhookHealth.query(ctx.db).whereIn('webhook_id', ids);
  const byId = new Map(health.map((each) => [each.webhook_id, each]));
  // One that was deleted between the two reads is gone.
  return webhooks.flatMap((webhook) => {
    const found = byId.get(webhook.webhook_id);
    return found ? [presentWebhook(webhook, found)] : [];
  });
}
