import { ADA, AT, TEAM_ID } from './people.js';

const WEBHOOK_ID = '019a9f00-0000-7000-8000-000000000071';
const EVENT_ID = '019a9f00-0000-7000-8000-000000000072';

const webhook = {
  webhook_id: WEBHOOK_ID,
  team_id: TEAM_ID,
  url: 'https://hooks.example.com/assent',
  events: ['task.*', 'approval.requested'],
  description: 'Chat room of the team',
  format: 'json',
  is_active: true,
  disabled_reason: null,
  secret_prefix: 'whsec_C2FV...',
  failure_count: 0,
  last_success_at: AT,
  last_failure_at: null,
  created_by: ADA,
  created_at: AT,
};
const delivery = {
  delivery_id: '019a9f00-0000-7000-8000-000000000073',
  event_id: EVENT_ID,
  event_type: 'task.completed',
  status: 'succeeded',
  next_attempt_at: null,
};
const attempts = [
  { at: AT, status_code: 503, duration_ms: 41, error: null },
  { at: AT, status_code: 200, duration_ms: 38, error: null },
];

/** Example responses about outbound webhooks. */
export const WEBHOOKS: Record<string, unknown> = {
  Webhook: webhook,
  WebhookWithSecret: { ...webhook, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' },
  DeletedWebhook: { success: true, webhook_id: WEBHOOK_ID },
  WebhookDelivery: { ...delivery, attempts },
  WebhookDeliveryDetail: {
    ...delivery,
    attempts: attempts.map((attempt, at) => ({ ...attempt, response: at === 0 ? 'upstream is away' : 'ok' })),
    request_body: `{"type":"task.completed","timestamp":"${AT}","data":{"event_id":"${EVENT_ID}"}}`,
  },
  ReplayedWebhook: { queued: 42 },
};
