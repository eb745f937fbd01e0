import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { readWebhook } from '../read-webhook.js';
import { recordWebhookChange } from '../record-webhook-change.js';
import type { DeliveryRecord } from '../schema.js';
import { deriveDeliveryId } from './delivery-id.js';
import { readDelivery } from './get-delivery.js';
import { presentDelivery } from './present.js';
import { requireActive } from './redeliver.js';

const TYPE = 'webhook.test';
/** Pending tests of an endpoint: a receiver that is down collects no more. */
const MAX_PENDING = 10;

/** $1 = endpoint id, $2 = event id, $3 = team id, $4 = body. Queues nothing while too many tests are pending. */
const queueStatement = defineStatement({
  name: 'queue_webhook_test',
  text: /* sql */ `
    with event as (
      insert into webhook_events (event_id, team_id, event_type, body)
      select $2, $3, '${TYPE}', $4
      where (select count(*) from (
        select from webhook_queue where webhook_id = $1 and event_type = '${TYPE}' limit ${MAX_PENDING}) few) < ${MAX_PENDING}
      returning event_id, event_type
    )
    insert into webhook_queue (webhook_id, event_id, event_type) select $1, event_id, event_type from event
    returning event_id`,
});

/**
 * Sends a test event to one endpoint, whatever it subscribes to. The delivery is listed like any other.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT disabled, or ten tests are pending
 */
export function sendTest(ctx: Context, webhookId: string): Promise<DeliveryRecord> {
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    requireActive(webhook);
    const { team_id } = webhook;
    const event_id = newId();
    const data = {
      event_id,
      team_id,
      project_id: null,
      actor_id: requireUser(ctx),
      entity_type: 'webhook',
      entity_id: webhookId,
      changes: {},
      object: { webhook_id: webhookId, message: 'This is a test. Nothing has changed.' },
    };
    const body = JSON.stringify({ type: TYPE, timestamp: new Date().toISOString(), data });
    const values = [webhookId, event_id, team_id, body];
    const [queued] = await run(ctx.db, queueStatement, values);
    if (!queued) {
      throw conflict('Too many tests are pending', {
        detail: `${MAX_PENDING} wait for the receiver; send one of them again instead.`,
      });
    }
    const delivery_id = deriveDeliveryId(webhookId, event_id);
    await recordWebhookChange(ctx, webhook, 'execute', { delivery_id, event_id });
    return presentDelivery(await readDelivery(ctx, webhookId, delivery_id), true);
  });
}
