import { z } from 'zod';
import { isAdmitted } from '../../../../platform/access/access.js';
import { Id } from '../../../../platform/fields.js';
import { getTeam } from '../../../../identity/teams/get-team.js';
import { getDelivery } from '../../../../integrations/webhooks/history/get-delivery.js';
import { redeliver } from '../../../../integrations/webhooks/history/redeliver.js';
import { timeOfId } from '../../../../integrations/webhooks/rules.js';
import { page, type Page } from '../../../page.js';
import { loadWebhook } from './form.js';
import { WebhookPath, webhookPath } from './webhook.js';

const DeliveryPath = WebhookPath.extend({ delivery_id: Id });
const buildPath = (params: z.output<typeof DeliveryPath>): string => `${webhookPath(params)}/deliveries/${params.delivery_id}`;

/** Returns JSON with line breaks; any other text as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export const webhookDeliveryPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/webhooks/:webhook_id/deliveries/:delivery_id',
    access: 'webhook.read',
    params: DeliveryPath,
    query: z.object({ live: z.unknown().optional() }),
    async handle(visit) {
      const { ctx, params } = visit;
      const webhook = await loadWebhook(visit, params);
      const [team, delivery] = await Promise.all([
        getTeam(ctx, params.team_id),
        getDelivery(ctx, params.webhook_id, params.delivery_id),
      ]);
      const data = {
        team,
        webhook,
        delivery,
        at: timeOfId(delivery.event_id),
        body: readable(delivery.request_body),
        base: webhookPath(params),
        path: buildPath(params),
        host: new URL(webhook.url).host,
        resends: webhook.is_active && isAdmitted('webhook.write', ctx.actor),
      };
      return { view: 'teams/webhooks/delivery', title: delivery.event_type, data };
    },
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
    access: 'webhook.write',
    params: DeliveryPath,
    form: z.object({}),
    async handle(visit) {
      await loadWebhook(visit, visit.params);
      await redeliver(visit.ctx, visit.params.webhook_id, visit.params.delivery_id);
      return { to: buildPath(visit.params), notice: { kind: 'good', text: 'The delivery will be sent again.' } };
    },
    onError: ({ params }, { message }) => Promise.resolve({ to: buildPath(params), notice: { kind: 'bad', text: message } }),
  }),
];
