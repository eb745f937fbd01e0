import { z } from 'zod';
import { Id, NO_ID, Text, Timestamp, Title } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { WorkItem } from '../items/schema.js';
import { ProjectRecord } from '../projects/schema.js';
import { Task } from '../tasks/schema.js';
import { CALLER, MAX_FILTER_VALUES, NONE } from '../tasks/filters.js';
import { normaliseStatus, TASK_PRIORITIES } from '../tasks/rules.js';
import { DUE_RANGES, LAYOUTS, MAX_SORT_FIELDS, VIEW_ENTITIES } from './rules.js';

const Status = z.string().max(50).overwrite(normaliseStatus);
const Priority = z.preprocess(
  (value) => (typeof value === 'string' ? value.trim().toLowerCase() : value),
  z.enum(TASK_PRIORITIES),
);
const values = <S extends z.ZodType>(value: S) => z.array(value).max(MAX_FILTER_VALUES).optional();
const Due = Text.max(40).optional().meta({ example: '2026-12-01' });
/** Stands for the viewer. */
export const VIEWER = CALLER;
/** An id, or one of the words that stand for something. */
const idOr = (...words: string[]) =>
  z.string().overwrite((value) => (words.includes(value) ? value : (Id.safeParse(value).data ?? NO_ID)));
const FieldValue = z.union([Text.max(2_000), z.number(), z.boolean()]);

/** A record would drop this key without a word, and the view would be wider than asked for. */
const withoutPrototype = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__') ? null : value;

const FieldValues = z
  .preprocess(withoutPrototype, z.record(z.string().max(63), z.array(FieldValue).max(MAX_FILTER_VALUES)))
  .optional();
const byKey = (description: string) => ({
  override: {
    type: 'object' as const,
    additionalProperties: {
      type: 'array' as const,
      items: { anyOf: [{ type: 'string' as const }, { type: 'number' as const }, { type: 'boolean' as const }] },
    },
    description,
  },
});
const notIn = (name: string) => ({ description: `Leaves out what \`${name}\` with these values would find` });
const Assignees = values(idOr(VIEWER, NONE));
const Creators = values(idOr(VIEWER));
const Cycles = values(idOr(NONE));
const Stages = values(idOr(NONE));

export const ViewFilters = z
  .object({
    status: values(Status),
    priority: values(Priority),
    assigned_to: Assignees.meta({
      description: 'Ids of users; `me` is the viewer, `none` finds tasks without an assignee',
    }),
    created_by: Creators.meta({ description: 'Ids of users; `me` is the viewer' }),
    cycle_id: Cycles.meta({ description: 'Ids of cycles; `none` finds tasks in none' }),
    stage_id: Stages.meta({ description: 'Ids of stages; `none` finds tasks in none' }),
    tags: values(Text.max(50)).meta({ description: 'Any of them' }),
    project_id: values(Id),
    not_status: values(Status).meta(notIn('status')),
    not_priority: values(Priority).meta(notIn('priority')),
    not_assigned_to: Assignees.meta(notIn('assigned_to')),
    not_created_by: Creators.meta(notIn('created_by')),
    not_cycle_id: Cycles.meta(notIn('cycle_id')),
    not_stage_id: Stages.meta(notIn('stage_id')),
    not_tags: values(Text.max(50)).meta(notIn('tags')),
    not_project_id: values(Id).meta(notIn('project_id')),
    due: z.enum(DUE_RANGES).optional().meta({
      description:
        'Days by the calendar of the viewer at each reading: before today, today, this week, or today and the seven days after it. `none`: due on no day',
    }),
    due_before: Due,
    due_after: Due,
    q: Text.max(500).optional().meta({ description: 'Words, as in a search' }),
    custom_fields: FieldValues.meta(byKey('Values by key; an unknown key matches nothing')),
    // Each value is a look-up for each row that the other filters leave.
    not_custom_fields: FieldValues.refine(
      (given) => Object.values(given ?? {}).flat().length <= MAX_FILTER_VALUES,
      `must have at most ${MAX_FILTER_VALUES} values in all`,
    ).meta(byKey(`Leaves out what \`custom_fields\` with these values would find; at most ${MAX_FILTER_VALUES} values in all`)),
  })
  .meta({ id: 'SavedViewFilters', description: 'Any value of a filter, and all filters. An empty list filters nothing' });
export type ViewFilters = z.output<typeof ViewFilters>;

const SortField = z.object({ field: z.string().max(80), direction: z.enum(['asc', 'desc']).default('asc') });
const Sort = z
  .array(SortField)
  .max(MAX_SORT_FIELDS)
  .meta({ description: 'Fields of the record, or `custom_field:<key>`; null comes last' });
const GroupBy = z.string().max(80).nullable();
const Columns = z.array(Text.min(1).max(80)).max(30);

export const CreateSavedView = z
  .object({
    name: Title(100),
    entity_type: z.enum(VIEW_ENTITIES),
    team_id: Id.nullish().meta({ description: 'Results are those of this team alone; without it, of all your teams' }),
    is_shared: z.boolean().nullish().meta({ description: 'The members of the team see the view; needs team_id' }),
    filters: ViewFilters.nullish(),
    sort: Sort.nullish(),
    group_by: GroupBy.optional(),
    layout: z.enum(LAYOUTS).nullish(),
    columns: Columns.nullish(),
  })
  .meta({ id: 'CreateSavedView' });
export type CreateSavedView = z.output<typeof CreateSavedView>;

export const UpdateSavedView = z
  .object({
    name: Title(100).optional(),
    entity_type: z.string().optional().meta({ description: 'Cannot change' }),
    team_id: Id.nullable().optional(),
    is_shared: z.boolean().optional(),
    filters: ViewFilters.optional(),
    sort: Sort.optional(),
    group_by: GroupBy.optional(),
    layout: z.enum(LAYOUTS).optional(),
    columns: Columns.optional(),
  })
  .meta({ id: 'UpdateSavedView' });
export type UpdateSavedView = z.output<typeof UpdateSavedView>;

export const SavedViewParams = z.object({ view_id: Id });
export const ListSavedViews = z.object({
  team_id: Id.optional(),
  entity_type: z.enum(VIEW_ENTITIES).optional(),
  ...byOffset(),
});
export type ListSavedViews = z.output<typeof ListSavedViews>;
export const ListResults = z.object(byOffset());
export type ListResults = z.output<typeof ListResults>;

export const SavedViewRecord = z
  .object({
    view_id: z.string(),
    name: z.string(),
    owner_id: z.string(),
    team_id: z.string().nullable(),
    is_shared: z.boolean(),
    is_default: z.boolean().meta({ description: 'The owner’s default for the entity' }),
    entity_type: z.enum(VIEW_ENTITIES),
    filters: z.record(z.string(), z.unknown()),
    sort: z.array(z.object({ field: z.string(), direction: z.enum(['asc', 'desc']) })),
    group_by: z.string().nullable(),
    layout: z.enum(LAYOUTS),
    columns: z.array(z.string()),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'SavedView' });
export type SavedViewRecord = z.output<typeof SavedViewRecord>;

export const DeletedSavedView = z.object({ success: z.literal(true), view_id: z.string() }).meta({ id: 'DeletedSavedView' });

const custom_fields = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
  .meta({ description: 'Values by key' });
const TaskResult = Task.extend({ custom_fields }).meta({ id: 'TaskResult' });
const ProjectResult = ProjectRecord.extend({ custom_fields }).meta({ id: 'ProjectResult' });
export const ViewResult = z.union([TaskResult, ProjectResult, WorkItem]);
export const ViewGroup = z
  .object({
    key: z.string().nullable().meta({ description: 'null: without a value' }),
    count: z.int(),
    estimate: z
      .int()
      .optional()
      .meta({ description: 'Points of its tasks but those that are canceled or duplicates; absent where none is estimated' }),
  })
  .meta({ id: 'SavedViewGroup' });
export type ViewGroup = z.output<typeof ViewGroup>;
