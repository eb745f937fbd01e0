import { WebhookHealth } from '../../../db/models/webhook-health.js';
import { Webhook } from '../../../db/models/webhook.js';
import { type Ability, authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { presentWebhook } from './present.js';
import type { WebhookRecord } from './schema.js';

/**
 * Reads an endpoint that the caller may read or change. Inside a transaction its row is then locked, so changes of one endpoint happen one
 * after the other; queueing its deliveries is not blocked.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export async function readWebhook(
  ctx: Context,
  ability: Extract<Ability, `webhook.${string}`>,
  webhookId: string,
): Promise<Webhook> {
  const found = await Webhook.query(ctx.db).findById(webhookId);
  if (!found) throw notFound('Webhook');
  // The membership first, as the deletion of a team does; a stranger locks nothing.
  authorize(ability, await findSeat(ctx, found.team_id));
  if (!ctx.db.isTransaction) return found;
  const locked = await Webhook.query(ctx.db).findById(webhookId).forNoKeyUpdate();
  if (!locked) throw notFound('Webhook');
  return locked;
}

/** Returns the record of an endpoint as it is stored now. */
export async function toRecord(ctx: Pick<Context, 'db'>, webhookId: string): Promise<WebhookRecord> {
  const webhook = (await Webhook.query(ctx.db).findById(webhookId)) as Webhook;
  const health = (await WebhookHealth.query(ctx.db).findById(webhookId)) as WebhookHealth;
  return presentWebhook(webhook, health);
}
