import type { Webhook } from '../../../db/models/webhook.js';
import type { WebhookHealth } from '../../../db/models/webhook-health.js';
import type { WebhookRecord } from './schema.js';

const time = (at: Date | null): string | null => at?.toISOString() ?? null;

/** Converts an endpoint for the API. */
export const presentWebhook = (row: Webhook, health: WebhookHealth): WebhookRecord => ({
  webhook_id: row.webhook_id,
  team_id: row.team_id,
  url: row.url,
  events: row.events,
  description: row.description,
  format: row.format,
  is_active: row.is_active,
  disabled_reason: row.disabled_reason,
  secret_prefix: row.secret_prefix,
  failure_count: health.failure_count,
  last_success_at: time(health.last_success_at),
  last_failure_at: time(health.last_failure_at),
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
});
