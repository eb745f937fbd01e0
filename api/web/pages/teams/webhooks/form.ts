import { z } from 'zod';
import { notFound } from '../../../../platform/errors.js';
import { EVENT_PATTERNS, WEBHOOK_EVENTS } from '../../../../integrations/webhooks/events/names.js';
import { getWebhook } from '../../../../integrations/webhooks/get-webhook.js';
import { CreateWebhook, type WebhookRecord } from '../../../../integrations/webhooks/schema.js';
import type { PageRequest } from '../../../page.js';
import type { Fields } from '../../../server/read-form.js';

export const webhooksPath = (teamId: string): string => `/app/teams/${teamId}/webhooks`;

/** Check boxes: one is sent as a string, several as a list, none as nothing. */
const Checked = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()));

/** The fields of the API that the form has. */
export const WebhookForm = z.object({
  url: CreateWebhook.shape.url,
  description: CreateWebhook.shape.description,
  format: CreateWebhook.shape.format,
  events: Checked.refine((events) => events.length > 0, 'choose at least one event').pipe(CreateWebhook.shape.events),
});

/** Events to choose from: all, families, and single ones with their descriptions. `chosen` is what was sent, else what is stored. */
export const eventChoices = (stored: readonly string[], given?: Fields) => ({
  families: EVENT_PATTERNS.filter((pattern) => pattern.endsWith('.*')),
  single: Object.entries(WEBHOOK_EVENTS),
  chosen: given ? (Checked.safeParse(given['events']).data ?? []) : stored,
});

/**
 * Reads an endpoint of the team that the address names.
 * @throws RESOURCE_NOT_FOUND no such endpoint, or another team's | PERMISSION_DENIED below admin
 */
export async function loadWebhook(
  { ctx }: Pick<PageRequest, 'ctx'>,
  { team_id, webhook_id }: { team_id: string; webhook_id: string },
): Promise<WebhookRecord> {
  const webhook = await getWebhook(ctx, webhook_id);
  if (webhook.team_id !== team_id) throw notFound('Webhook');
  return webhook;
}
