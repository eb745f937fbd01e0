import { z } from 'zod';
import { normaliseDate } from '../../platform/dates.js';
import { ClampedInt, DATE_FORMATS, Id, TaskId, Text, Timestamp } from '../../platform/fields.js';
import { pagedBy } from '../../platform/endpoint/pages.js';
import { lowestIdAt } from '../../platform/ids.js';

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

const ActivityPerson = z
  .object({ user_id: z.string(), name: z.string().nullable().meta({ description: 'null for a former member of the team' }) })
  .meta({ id: 'ActivityPerson' });

const RejectedRun = z
  .object({ run_id: z.string(), automation_id: z.string(), automation_name: z.string() })
  .meta({ id: 'RejectedRun' });

/** What made a change in the name of a user. */
const ActivityCause = z
  .object({
    type: z.enum(['automation', 'plan']),
    automation_id: z.string().nullable().meta({ description: 'null also for a personal automation of another user' }),
    automation_name: z.string().nullable(),
    run_id: z.string().nullable(),
    action_id: z.string().nullable().meta({ description: 'The plan of the agent' }),
    for_user: ActivityPerson.nullable().meta({
      description: 'The automation’s creator, or the user for whom the plan was staged',
    }),
    triggered_by: ActivityPerson.nullable().meta({ description: 'Who started the run, or whose change started it' }),
    approvers: z
      .array(ActivityPerson)
      .meta({ description: 'Who approved the gate before the change, or confirmed the plan; empty without a gate' }),
  })
  .meta({ id: 'ActivityCause' });
export type ActivityCause = z.output<typeof ActivityCause>;

const ShortValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable();
const ActivityChanges = z.record(z.string(), z.object({ from: ShortValue, to: ShortValue }));
export type ActivityChanges = z.output<typeof ActivityChanges>;

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
    cause: ActivityCause.nullable().meta({ description: 'The automation or plan that made the change; null for a user' }),
    rejected_run: RejectedRun.nullable().meta({
      description:
        'The run whose gate was rejected, on a line of a task that it would have changed; null for other lines, and for who may not read the run',
    }),
    changes: ActivityChanges.nullable().meta({ description: 'Short values of changed fields; `summary` names all fields' }),
  })
  .meta({ id: 'Activity' });
export type ActivityEntry = z.output<typeof ActivityEntry>;
