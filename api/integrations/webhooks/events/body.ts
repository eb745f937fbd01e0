import { ENTITIES } from '../../../platform/events/catalogue/shapes.js';
import { deriveEventId } from './event-id.js';
import type { WebhookEvent } from './names.js';

/** An event of the outbox, as far as a delivery tells it. */
export interface ChangeEvent {
  /** Event type. */
  subject: string;
  event_id: string;
  team_id: string | null;
  project_id: string | null;
  created_at: string;
  payload: Readonly<Record<string, unknown>>;
}

/** What is delivered: `body` is the exact text that is signed. */
export interface DeliveredEvent {
  event_id: string;
  event_type: string;
  body: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Bodies stay below this; receivers and their queues often take no more. */
const MAX_BODY_BYTES = 20_000;
/** A longer value of a change is left out of a thin body. */
const MAX_THIN_VALUE = 200;
/** Changed fields that a thin body tells. */
const MAX_THIN_FIELDS = 20;

/** Returns the entity of an event; the payload of one about a run names it itself. */
function getEntity(family: string, payload: Fields): { entity_type: unknown; entity_id: unknown; object: unknown } {
  const entity = Object.hasOwn(ENTITIES, family) ? ENTITIES[family] : undefined;
  if (!entity) return { entity_type: payload['entity_type'], entity_id: payload['entity_id'], object: payload['object'] };
  const object = payload[entity.record] as Fields | undefined;
  return { entity_type: entity.type, entity_id: object?.[entity.id], object };
}

const thinValue = (value: unknown): unknown => ((JSON.stringify(value) ?? '').length > MAX_THIN_VALUE ? null : value);

/** Returns changes without long values. */
const thinChanges = (changes: Fields): Fields =>
  Object.fromEntries(
    Object.entries(changes)
      .slice(0, MAX_THIN_FIELDS)
      .map(([field, change]) => {
        const { from, to, ...sizes } = (change ?? {}) as { from?: unknown; to?: unknown };
        if (Object.hasOwn(sizes, 'from_bytes')) return [field, sizes];
        return [field, { from: thinValue(from), to: thinValue(to) }];
      }),
  );

/**
 * Builds the event that an endpoint receives under one name. A body that grows too large comes without `object`, and without long
 * values in `changes`: then `thin` is true and the record is there to be read (docs/decisions/integrations.md#webhook-events).
 */
export function buildEvent(change: ChangeEvent, name: WebhookEvent): DeliveredEvent {
  const { payload, team_id, project_id } = change;
  const event_id = deriveEventId(change, name);
  const timestamp = new Date(change.created_at).toISOString();
  const { entity_type, entity_id = null, object = null } = getEntity(name.split('.', 1)[0] as string, payload);
  const changes = (payload['changes'] ?? {}) as Fields;
  const actor_id = payload['actor_id'] ?? null;
  const { cascade_id, field } = payload;
  const about = { event_id, team_id, project_id, actor_id, entity_type, entity_id, cascade_id, field };
  const whole = JSON.stringify({ type: name, timestamp, data: { ...about, changes, object } });
  const isThin = Buffer.byteLength(whole) >= MAX_BODY_BYTES || (object as Fields | null)?.['thin'] === true;
  const body = isThin
    ? JSON.stringify({ type: name, timestamp, data: { ...about, changes: thinChanges(changes), thin: true } })
    : whole;
  return { event_id, event_type: name, body };
}
