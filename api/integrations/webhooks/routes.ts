import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { createWebhook } from './create-webhook.js';
import { deleteWebhook } from './delete-webhook.js';
import { getWebhook } from './get-webhook.js';
import { getDelivery } from './history/get-delivery.js';
import { listDeliveries } from './history/list-deliveries.js';
import { redeliver } from './history/redeliver.js';
import { replay } from './history/replay.js';
import { sendTest } from './history/send-test.js';
import { listWebhooks } from './list-webhooks.js';
import { rotateSecret } from './rotate-secret.js';
import {
  CreateWebhook,
  DeletedWebhook,
  DeliveryDetail,
  DeliveryParams,
  DeliveryRecord,
  ListDeliveries,
  ListWebhooks,
  ReplayedWebhook,
  ReplayWebhook,
  UpdateWebhook,
  WebhookParams,
  WebhookRecord,
  WebhookWithSecret,
} from './schema.js';
import { updateWebhook } from './update-webhook.js';

const read = { tag: 'Webhooks', ability: 'webhook.read', scope: 'automations:read' } as const;
const write = { tag: 'Webhooks', ability: 'webhook.write', scope: 'automations:write' } as const;

const deliveries: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listWebhookDeliveries',
    method: 'get',
    path: '/api/webhooks/:webhook_id/deliveries',
    summary: 'List deliveries of a webhook',
    description:
      'Those of the newest events first, for 30 days. Every answer but 2xx and 410 is tried again: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.',
    params: WebhookParams,
    query: ListDeliveries,
    response: z.array(DeliveryRecord),
    errors: [404],
    handle: ({ ctx, params, query }) => listDeliveries(ctx, params.webhook_id, query),
  }),
  endpoint({
    ...read,
    id: 'getWebhookDelivery',
    method: 'get',
    path: '/api/webhooks/:webhook_id/deliveries/:delivery_id',
    summary: 'Get a delivery of a webhook',
    description: 'With the text that was sent, and the beginning of each response.',
    params: DeliveryParams,
    response: DeliveryDetail,
    errors: [404],
    handle: ({ ctx, params }) => getDelivery(ctx, params.webhook_id, params.delivery_id),
  }),
  endpoint({
    ...write,
    id: 'redeliverWebhook',
    method: 'post',
    path: '/api/webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
    summary: 'Send a delivery again',
    description:
      'Keeps `webhook-id`. A delivery that ended gets the whole timetable again; a pending one is attempted at once. 409 while the webhook is disabled.',
    params: DeliveryParams,
    response: DeliveryRecord,
    status: 202,
    errors: [404, 409],
    handle: ({ ctx, params }) => redeliver(ctx, params.webhook_id, params.delivery_id),
  }),
  endpoint({
    ...write,
    id: 'replayWebhook',
    method: 'post',
    path: '/api/webhooks/:webhook_id/replay',
    summary: 'Replay failed deliveries',
    description:
      'Sends every failed delivery of a range again, each with its `webhook-id`. 409 with `failed_deliveries` if there are more than 10,000, and while 10,000 are pending or the webhook is disabled.',
    params: WebhookParams,
    body: ReplayWebhook,
    example: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', status: 'failed' },
    response: ReplayedWebhook,
    status: 202,
    errors: [404, 409],
    handle: ({ ctx, params, body }) => replay(ctx, params.webhook_id, body),
  }),
];

export const webhookRoutes: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listWebhooks',
    method: 'get',
    path: '/api/webhooks',
    summary: 'List webhooks',
    description: 'Oldest first. A team has at most 20.',
    query: ListWebhooks,
    response: z.array(WebhookRecord),
    errors: [404],
    handle: ({ ctx, query }) => listWebhooks(ctx, query),
  }),
  endpoint({
    ...write,
    id: 'createWebhook',
    method: 'post',
    path: '/api/webhooks',
    summary: 'Create a webhook',
    description:
      'Only this response contains the secret. Deliveries are signed by Standard Webhooks 1.0, arrive at least once and in no promised order; `webhook-id` stays the same for every attempt. A host that is unknown or not public is a 422.',
    body: CreateWebhook,
    example: {
      url: 'https://hooks.example.com/assent',
      team_id: '019a9f00-0000-7000-8000-000000000003',
      events: ['task.*', 'approval.requested'],
      description: 'Chat room of the team',
    },
    response: WebhookWithSecret,
    status: 201,
    errors: [404],
    storable: false,
    handle: ({ ctx, body }) => createWebhook(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getWebhook',
    method: 'get',
    path: '/api/webhooks/:webhook_id',
    summary: 'Get a webhook',
    params: WebhookParams,
    response: WebhookRecord,
    errors: [404],
    handle: ({ ctx, params }) => getWebhook(ctx, params.webhook_id),
  }),
  endpoint({
    ...write,
    id: 'updateWebhook',
    method: 'patch',
    path: '/api/webhooks/:webhook_id',
    summary: 'Update a webhook',
    description:
      'Every field is optional; null clears the description. While a webhook is disabled, its pending deliveries wait and new events are not queued.',
    params: WebhookParams,
    body: UpdateWebhook,
    example: { is_active: true },
    response: WebhookRecord,
    errors: [404],
    handle: ({ ctx, params, body }) => updateWebhook(ctx, params.webhook_id, body),
  }),
  endpoint({
    ...write,
    id: 'deleteWebhook',
    method: 'delete',
    path: '/api/webhooks/:webhook_id',
    summary: 'Delete a webhook',
    description: 'Its pending deliveries are deleted. A request in progress may still arrive.',
    params: WebhookParams,
    response: DeletedWebhook,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteWebhook(ctx, params.webhook_id);
      return { success: true, webhook_id: params.webhook_id };
    },
  }),
  endpoint({
    ...write,
    id: 'rotateWebhookSecret',
    method: 'post',
    path: '/api/webhooks/:webhook_id/rotate-secret',
    summary: 'Rotate the secret of a webhook',
    description:
      'Only this response contains the new secret. For 24 hours deliveries carry two signatures, the second by the secret before; the one before that ends at once.',
    params: WebhookParams,
    response: WebhookWithSecret,
    errors: [404],
    storable: false,
    handle: ({ ctx, params }) => rotateSecret(ctx, params.webhook_id),
  }),
  endpoint({
    ...write,
    id: 'testWebhook',
    method: 'post',
    path: '/api/webhooks/:webhook_id/test',
    summary: 'Send a test to a webhook',
    description:
      'Queues an event `webhook.test`, whatever the webhook subscribes to. 409 while it is disabled, or ten tests are pending.',
    params: WebhookParams,
    response: DeliveryRecord,
    status: 202,
    errors: [404, 409],
    handle: ({ ctx, params }) => sendTest(ctx, params.webhook_id),
  }),
  ...deliveries,
];
