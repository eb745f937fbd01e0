import { z } from 'zod';
import { ClampedInt, Id, Timestamp } from '../../platform/fields.js';
import { decodeCursor } from './cursor.js';
import { FAMILIES } from './readers.js';

const MAX_TYPES = 50;
const CURSOR = 'must be a cursor of this list';

const After = z
  .string()
  .transform((text, ctx) => {
    const cursor = decodeCursor(text);
    if (cursor) return cursor;
    ctx.addIssue({ code: 'custom', message: CURSOR });
    return z.NEVER;
  })
  .optional()
  .meta({
    override: { type: 'string', description: 'Cursor: the `id` of an event, or `cursor` of an answer; without one, now' },
  });

const isKnown = (type: string): boolean => /^[a-z_]+(\.[a-z_]+)?$/.test(type) && FAMILIES.has(type.replace(/\..*/, ''));

const Types = z
  .string()
  .transform((text) => text.split(',').map((type) => type.trim()))
  .pipe(
    z
      .array(z.string().refine(isKnown, 'must be an entity such as task, or an event such as task.updated'))
      .max(MAX_TYPES)
      .transform((types): ReadonlySet<string> => new Set(types)),
  )
  .optional()
  .meta({
    override: {
      type: 'string',
      description: 'Entities or names of events, separated by commas; without them, all',
      example: 'task,change_request.created',
    },
  });

/** Which changes a caller follows, as a stream or by asking again. */
export const FollowEvents = z.object({
  after: After,
  team_id: Id.optional().meta({ description: 'Only the changes of this team; one without membership has none' }),
  types: Types,
});
export type FollowEvents = z.output<typeof FollowEvents>;

export const ReadEvents = FollowEvents.extend({ limit: ClampedInt(1, 500, 100) });
export type ReadEvents = z.output<typeof ReadEvents>;

const nullableText = z.string().nullable();

export const LiveEvent = z
  .object({
    id: z.string().meta({ description: 'The cursor after this event; the same in every answer and stream' }),
    type: z.string().meta({ description: 'Name of the event as webhooks have it, else the entity and what happened to it' }),
    entity_type: z.string(),
    entity_id: nullableText.meta({ description: 'null if several changed at once' }),
    parent_id: nullableText.meta({ description: 'The task of a comment, the automation of a run, the session of a plan' }),
    team_id: nullableText.meta({ description: 'null for what is the caller’s own' }),
    project_id: nullableText,
    user_id: nullableText.meta({ description: 'The user who acted, or in whose name a machine did' }),
    actor_type: nullableText.meta({ description: 'As in the activity feed' }),
    correlation_id: nullableText.meta({ description: '`X-Correlation-ID` of the request that caused it' }),
    timestamp: Timestamp,
  })
  .meta({ id: 'LiveEvent', description: 'One change. It names what changed; read the entity for its present state' });
export type LiveEvent = z.output<typeof LiveEvent>;

export const LiveEvents = z
  .object({
    events: z.array(LiveEvent),
    cursor: z.string().meta({ description: 'Where to go on, also if there are no events' }),
    has_more: z.boolean().meta({ description: 'Whether to ask again at once; with a filter also of an answer without events' }),
  })
  .meta({ id: 'LiveEvents' });
export type LiveEvents = z.output<typeof LiveEvents>;
