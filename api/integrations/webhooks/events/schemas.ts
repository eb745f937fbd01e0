import { z } from 'zod';
import { Changes, ENTITIES } from '../../../platform/events/catalogue/shapes.js';
import { EVENTS } from '../../../platform/events/event-types.js';
import type { WebhookEvent } from './names.js';

const text = z.string();
const nullable = z.string().nullable();

/** Returns the fields of an event's payload; those of a name for some of the stored events are not declared. */
function getPayload(name: WebhookEvent): z.ZodRawShape {
  const own = EVENTS.find(([known]) => known === name)?.[1];
  return own && 'payload' in own ? own.payload : {};
}

/** Returns the fields of `object` that a receiver can rely on; the record has more. */
function getObjectSchema(name: WebhookEvent, fields: z.ZodRawShape): z.ZodObject {
  const family = ENTITIES[name.split('.', 1)[0] as string];
  return (fields[family?.record ?? 'object'] ?? family?.schema ?? z.looseObject({})) as z.ZodObject;
}

const ChangedFields = Changes.meta({
  description: 'Changed fields, each {from, to}; free fields by their sizes. Long values are null in a thin event',
});

/** Returns the schema of an event's body. */
export function getSchema(name: WebhookEvent): z.ZodObject {
  const payload = getPayload(name);
  const object = getObjectSchema(name, payload);
  return z.looseObject({
    type: z.literal(name),
    timestamp: z.string().meta({ format: 'date-time', description: 'Time of the change' }),
    data: z.looseObject({
      event_id: text.meta({ description: 'Also the header `webhook-id`; the same at every attempt and in a replay' }),
      team_id: text,
      project_id: nullable,
      actor_id: nullable.meta({ description: 'User who caused it; null for the service itself' }),
      entity_type: text,
      entity_id: nullable,
      cascade_id: text.optional().meta({ description: 'Of a deletion or restoration: the same for everything that it moved' }),
      ...(payload['field'] && { field: payload['field'] }),
      changes: ChangedFields,
      object: object
        .optional()
        .meta({ description: 'The record after the change, with more fields than are listed here; absent from a thin event' }),
      thin: z.literal(true).optional().meta({ description: 'The body would exceed 20 kB: read the record instead' }),
    }),
  });
}
