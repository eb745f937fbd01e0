import { z } from 'zod';
import { normaliseDate } from '../../platform/dates.js';
import { DATE_FORMATS, Flag, Id, Moment, OptionalInt, TaskId, Text, Timestamp, TrimmedText } from '../../platform/fields.js';
import { cursorSchema, pagedBy } from '../../platform/endpoint/pages.js';
import { FieldFilters } from '../custom-fields/filter-schema.js';
import { CALLER, NONE, several } from './filters.js';
import { pickSchemas, TaskPriority, TaskResolution, TaskStatus } from './columns.js';
import { TASK_RESOLUTIONS, TASK_STATUSES } from './rules.js';

const Version = z.int().min(1).max(2_147_483_647);

// On creation, null in an optional field counts as absent; hence nullish.
export const CreateTask = z.object(pickSchemas('create')).meta({ id: 'CreateTask' });
export type CreateTask = z.output<typeof CreateTask>;

export const UpdateTask = z
  .object({
    ...pickSchemas('update'),
    version: Version.nullish().meta({ description: 'The version last read; an outdated one is a 409' }),
  })
  .meta({ id: 'UpdateTask' });
export type UpdateTask = z.output<typeof UpdateTask>;

/** Maximum items of one bulk creation. */
const MAX_BULK = 500;

/** The operation validates each item and reports its errors at its index; this checks only their number. */
export const CreateTasksInBulk = z
  .array(z.unknown().meta({ override: { $ref: '#/components/schemas/CreateTask' } }))
  .min(1)
  .max(MAX_BULK);

/** Accepts only the four exact values as status: `in-progress` is a 422. */
export const ChangeTaskStatus = z
  .object({ status: z.enum(TASK_STATUSES), resolution: TaskResolution, version: Version.nullish() })
  .meta({ id: 'ChangeTaskStatus' });

export const TaskParams = z.object({ task_id: TaskId });

export const BulkOptions = z.object({
  atomic: Flag.meta({ description: 'All or nothing: the first error rolls back the whole call' }),
});

const Include = z.enum(['custom_fields']).optional().meta({ description: 'Adds `custom_fields` to each task' });
export const TaskOptions = z.object({ include: Include });

const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const idOr = (words: readonly string[], noun: string) =>
  z
    .string()
    .regex(
      new RegExp(`^(${[...words, UUID].join('|')})$`),
      `must be ${words.map((word) => `\`${word}\``).join(', ')} or the id of a ${noun}`,
    );
const Assignee = idOr([CALLER, NONE], 'user');
const Creator = idOr([CALLER], 'user');
/** A malformed id is an unknown one. */
const IdOrNone = z.string().overwrite((value) => (value === NONE ? value : Id.parse(value)));
const Tag = TrimmedText(50);
const REPEATED = 'Repeat it for any of several values';
const notIn = (name: string) => ({ description: `Leaves out what \`${name}\` with these values would find` });
/** A query, so a malformed one is a 422. */
const DueBound = Text.refine((text) => normaliseDate(text) !== null, 'must be an ISO 8601 date or date-time').meta({
  override: { ...DATE_FORMATS },
});
const MAX_PAGE = 500;

const page = () => ({ limit: pagedBy(OptionalInt(1, MAX_PAGE), { by: 'task_id' }), before: cursorSchema('task_id', TaskId) });

export const ListMyTasks = z.object(page());
export type ListMyTasks = z.output<typeof ListMyTasks>;

export const ListTasks = z.object({
  project_id: several(Id).meta({ description: `${REPEATED}, of which unknown and foreign ones find nothing` }),
  team_id: Id.optional().meta({ description: 'Ignored when project_id is given' }),
  status: several(TaskStatus).meta({ description: REPEATED }),
  resolution: several(z.enum(TASK_RESOLUTIONS)).meta({ description: REPEATED }),
  stage_id: several(IdOrNone).meta({
    description: `Id of a stage, \`${NONE}\` for tasks in none. ${REPEATED}, of which unknown and foreign ones find nothing`,
  }),
  cycle_id: several(IdOrNone).meta({
    description: `Tasks of one cycle; of these, those of project_id or team_id if given. \`${NONE}\`: in no cycle. ${REPEATED}, of which unknown and foreign ones find nothing`,
  }),
  include: Include,
  assigned_to: several(Assignee).meta({
    description: `Id of a user; \`${CALLER}\` for your own, \`${NONE}\` for tasks of nobody. ${REPEATED}`,
  }),
  created_by: several(Creator).meta({ description: `Id of a user; \`${CALLER}\` for yourself. ${REPEATED}` }),
  priority: several(TaskPriority).meta({ description: REPEATED }),
  due: z.enum([NONE]).optional().meta({ description: 'Tasks that are due on no day' }),
  due_before: DueBound.optional().meta({ description: 'Due before this day or time' }),
  due_after: DueBound.optional().meta({ description: 'Due after this day, with all its times, or after this time' }),
  tag: several(Tag).meta({ description: REPEATED }),
  not_project_id: several(Id).meta(notIn('project_id')),
  not_status: several(TaskStatus).meta(notIn('status')),
  not_resolution: several(z.enum(TASK_RESOLUTIONS)).meta(notIn('resolution')),
  not_cycle_id: several(IdOrNone).meta(notIn('cycle_id')),
  not_stage_id: several(IdOrNone).meta(notIn('stage_id')),
  not_assigned_to: several(Assignee).meta(notIn('assigned_to')),
  not_created_by: several(Creator).meta(notIn('created_by')),
  not_priority: several(TaskPriority).meta(notIn('priority')),
  not_tag: several(Tag).meta(notIn('tag')),
  updated_since: Moment.optional(),
  ...page(),
  custom_field: FieldFilters,
  not_custom_field: FieldFilters.meta({
    override: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      description: 'Leaves out what `custom_field` with these values would find',
      example: { severity: 'low' },
    },
    param: { style: 'deepObject', explode: true },
  }),
});
export type ListTasks = z.output<typeof ListTasks>;

const taskFields = pickSchemas('shown');
export const Task = z.object(taskFields).meta({ id: 'Task' });
export type Task = z.output<typeof Task>;

/** A task with its descendants. */
export const TaskTree = z
  .object({
    ...taskFields,
    custom_fields: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .optional()
      .meta({ description: 'Values by key; only with `include=custom_fields`' }),
    get subtasks(): z.ZodArray<z.ZodType> {
      return z.array(TaskTree);
    },
  })
  .meta({ id: 'TaskTree' });

export const CreatedTask = z.object({ message: z.string(), task_id: z.string(), data: Task }).meta({ id: 'CreatedTask' });
const BulkResult = z
  .object({
    index: z.int(),
    success: z.boolean(),
    task_id: z.string().nullable(),
    data: Task.nullable(),
    error: z
      .object({
        error_code: z.string(),
        message: z.string(),
        detail: z.union([
          z.string(),
          z.object({ errors: z.array(z.object({ field: z.string(), message: z.string(), type: z.string() })) }),
        ]),
      })
      .nullable(),
  })
  .meta({ id: 'BulkResult' });
export const CreatedTasks = z
  .object({ results: z.array(BulkResult), created: z.int(), replayed: z.int(), failed: z.int(), total: z.int() })
  .meta({ id: 'CreatedTasks' });
export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });
export const TrashedTask = z
  .object({
    message: z.string(),
    success: z.literal(true),
    verified: z.boolean(),
    soft_deleted: z.literal(true),
    deleted_at: Timestamp,
    restore_url: z.string(),
    retention_days: z.int(),
  })
  .meta({ id: 'TrashedTask' });
export type TrashedTask = z.output<typeof TrashedTask>;
