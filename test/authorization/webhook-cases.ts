import { LIVE, type Row } from './row.js';

const url = 'https://93.184.216.34/';
const ofWebhook = (route: string, more: Partial<Row> = {}, body?: unknown): Row => ({
  route,
  subject: 'webhook',
  kinds: LIVE,
  send: (s) => ({ params: { webhook_id: s.id }, ...(body === undefined ? {} : { body }) }),
  ...more,
});
/** By the endpoint, and by the delivery of an endpoint of one's own. */
const ofDelivery = (route: string): Row[] => [
  {
    route,
    by: 'webhook_id',
    subject: 'webhook',
    kinds: LIVE,
    send: (s) => ({ params: { webhook_id: s.id, delivery_id: s.task_id } }),
  },
  {
    route,
    by: 'delivery_id',
    subject: 'webhookDelivery',
    kinds: LIVE,
    send: (s) => ({ params: { webhook_id: s.task_id, delivery_id: s.id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'a delivery to another endpoint is none of this one',
  },
];

/** Endpoints outside and the deliveries to them. */
export const webhookCases: Row[] = [
  {
    route: 'GET /api/webhooks',
    subject: 'webhook',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
  },
  {
    route: 'POST /api/webhooks',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, url, events: ['*'] } }),
  },
  ofWebhook('GET /api/webhooks/:webhook_id'),
  ofWebhook('PATCH /api/webhooks/:webhook_id', {}, { url: `${url}other` }),
  ofWebhook('DELETE /api/webhooks/:webhook_id'),
  ofWebhook('POST /api/webhooks/:webhook_id/rotate-secret'),
  ofWebhook('POST /api/webhooks/:webhook_id/test'),
  ofWebhook('GET /api/webhooks/:webhook_id/deliveries'),
  ...ofDelivery('GET /api/webhooks/:webhook_id/deliveries/:delivery_id'),
  ...ofDelivery('POST /api/webhooks/:webhook_id/deliveries/:delivery_id/redeliver'),
  ofWebhook('POST /api/webhooks/:webhook_id/replay', {}, { from: '2000-01-01T00:00:00Z', to: '2000-01-02T00:00:00Z' }),
];
