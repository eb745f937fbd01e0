import { z } from 'zod';
import { normaliseDate } from '../core/dates.js';
import { ClampedInt, DATE_FORMATS, Id, TaskId, Text, Timestamp } from '../core/fields.js';
import { pagedBy } from '../endpoint/pages.js';
import { lowestIdAt } from '../core/ids.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const Before = Text.transform((value, ctx) => {
  if (UUID.test(value)) return value;
  const moment = normaliseDate(value);
  if (moment !== null) return lowestIdAt(Date.parse(moment));
  ctx.addIssue({ code: 'custom', message: 'must be an activity_id or an ISO 8601 date-time' });
  return z.NEVER;
})
  .optional()
  .meta({
    override: {
      anyOf: [{ type: 'string', format: 'uuid' }, ...DATE_FORMATS.anyOf],
      description: 'Cursor: entries older than this `activity_id` or time',
    },
  });

export const ListActivity = z.object({
  team_id: Id.optional().meta({ description: 'A team without membership gives an empty list' }),
  project_id: Id.optional(),
  entity_type: Text.max(100).optional().meta({ example: 'task' }),
  entity_id: TaskId.optional(),
  user_id: Id.optional().meta({ description: 'Only activity of this user' }),
  limit: pagedBy(ClampedInt(1, 200, 50), { by: 'activity_id' }),
  before: Before,
});
export type ListActivity = z.output<typeof ListActivity>;

export const ActivityEntry = z
  .object({
    activity_id: z.string(),
    timestamp: Timestamp,
    user_id: z.string().nullable(),
    user_name: z.string().nullable(),
    actor_type: z.enum(['user', 'automation', 'agent', 'system']),
    action: z.string(),
    entity_type: z.string(),
    entity_id: z.string(),
    entity_title: z.string().nullable(),
    team_id: z.string(),
    project_id: z.string().nullable(),
    summary: z.string(),
  })
  .meta({ id: 'Activity' });
export type ActivityEntry = z.output<typeof ActivityEntry>;
