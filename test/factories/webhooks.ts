import { newId } from '../../api/platform/ids.js';
import { deriveDeliveryId } from '../../api/integrations/webhooks/history/delivery-id.js';
import { newWebhookSecret, sealWebhookSecret } from '../../api/integrations/webhooks/secret.js';
import { v7 as uuidv7 } from 'uuid';
import type { TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

export interface TestWebhook {
  webhook_id: string;
  team_id: string;
  url: string;
  secret: string;
}

/** An active endpoint of a team, with its secret. */
export async function buildWebhook(
  app: TestApp,
  team: TestTeam,
  url: string,
  { events = ['*'], ...fields }: { events?: string[] } & Record<string, unknown> = {},
): Promise<TestWebhook> {
  const webhook_id = newId();
  const secret = newWebhookSecret();
  await app.services.db('webhooks').insert({
    webhook_id,
    team_id: team.team_id,
    url,
    events,
    ...sealWebhookSecret(app.services.config, webhook_id, secret),
    secret_prefix: secret.slice(0, 10),
    created_by: team.admin.user_id,
    ...fields,
  });
  return { webhook_id, team_id: team.team_id, url, secret };
}

/** An address that nobody has to look up. Nothing listens there, and no test sends. */
export const PUBLIC_URL = 'https://93.184.216.34/hook';

/** An endpoint of the team, created by its admin over the API, with its secret. */
export async function createWebhook(
  app: TestApp,
  team: TestTeam,
  fields: Record<string, unknown> = {},
): Promise<{ webhook_id: string; secret: string }> {
  const body = { team_id: team.team_id, url: PUBLIC_URL, events: ['*'], ...fields };
  const answer = await app.as(team.admin).post('/api/webhooks', body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body as { webhook_id: string; secret: string };
}

interface Delivered {
  status?: 'succeeded' | 'failed' | 'pending';
  attempts?: unknown[];
  event_id?: string;
}

/** A delivery to the endpoint, as the dispatcher leaves it; pending ones are due in an hour. */
export async function buildDelivery(
  app: TestApp,
  team: TestTeam,
  webhook_id: string,
  { status = 'failed', attempts = [], event_id = uuidv7() }: Delivered = {},
): Promise<{ delivery_id: string; event_id: string }> {
  const { db } = app.services;
  const delivery = {
    webhook_id,
    event_id,
    event_type: 'task.created',
    attempts: JSON.stringify(attempts),
  };
  const body = JSON.stringify({ type: 'task.created', data: { event_id } });
  await db('webhook_events')
    .insert({ event_id, team_id: team.team_id, event_type: 'task.created', body })
    .onConflict('event_id')
    .ignore();
  if (status === 'pending') {
    await db('webhook_queue').insert({ ...delivery, tries: 2, next_attempt_at: new Date(Date.now() + 3_600_000) });
  } else await db('webhook_deliveries').insert({ ...delivery, status });
  return { delivery_id: deriveDeliveryId(webhook_id, event_id), event_id };
}
