import { PERSON, TASK, TEAM } from '../../../platform/events/catalogue/shapes.js';
import { EVENTS } from '../../../platform/events/event-types.js';
import { buildEvent } from './body.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from './names.js';

const TIME = '2026-11-20T17:51:02.123Z';
const EVENT = '0197a000-1000-7000-8000-000000000001';
const TEST = {
  project_id: null,
  webhook: { webhook_id: '0197a000-0000-7000-8000-000000000012', message: 'This is a test. Nothing has changed.' },
};

/** Returns an example of the body that an endpoint receives. */
export function buildSample(name: WebhookEvent): Record<string, unknown> {
  const declared = EVENTS.find(([known]) => known === name)?.[1].sample ?? TEST;
  const payload: Record<string, unknown> = { project_id: TASK.project_id, actor_id: PERSON, ...declared };
  const project_id = payload['project_id'] as string | null;
  const change = { subject: name, event_id: EVENT, team_id: TEAM, project_id, created_at: TIME, payload };
  return JSON.parse(buildEvent(change, name).body) as Record<string, unknown>;
}

/** Every event with its description, `webhook.test` last. */
export const DELIVERED_EVENTS: readonly [WebhookEvent, string][] = [
  ...(Object.entries(WEBHOOK_EVENTS) as [WebhookEvent, string][]),
  ['webhook.test', 'Someone tests the endpoint'],
];
