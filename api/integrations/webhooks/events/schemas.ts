import { z } from 'zod';
import { Changes, ENTITIES } from '../../../platform/events/catalogue/shapes.js';
import { EVENTS } from '../../../platform/events/event-types.js';
import type { WebhookEvent } from './names.js';

const text = z.string();
const nullable = z.string().nullable();

/** Returns the fields of `object` that a receiver can rely on; the record has more. */
function getObjectSchema(name: WebhookEvent): z.ZodObject {
  const own = EVENTS.find(([known]) => known === name)?.[1];
  const family = ENTITIES[name.split('.', 1)[0] as string];
  const fields = own && 'payload' in own ? own.payload : {};
  return (fields[family?.record ?? 'object'] ?? family?.schema ?? z.looseObject({})) as z.ZodObject;
}

const ChangedFields = Changes.meta({
  description: 'Changed fields, each {from, to}; free fields by their sizes. Long values are null in a thin event',
});

/** Returns the schema of an event's body. */
export function getSchema(name: WebhookEvent): z.ZodObject {
  const object = getObjectSchema(name);
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
      changes: ChangedFields,
      object: object
        .optional()
        .meta({ description: 'The record after the change, with more fields than are listed here; absent from a thin event' }),
      thin: z.literal(true).optional().meta({ description: 'The body would exceed 20 kB: read the record instead' }),
    }),
  });
}
