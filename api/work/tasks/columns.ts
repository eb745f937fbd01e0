import { z } from 'zod';
import { DATE_FORMATS, Id, NewTaskId, TaskId, Text, Timestamp, Title, TrimmedText } from '../../platform/fields.js';
import { Recurrence, TaskRecurrence } from './recurrence/schema.js';
import { buildSpellings } from './spellings.js';
import { MAX_POINTS, normaliseStatus, normaliseTags, TASK_PRIORITIES, TASK_RESOLUTIONS, TASK_STATUSES } from './rules.js';

/**
 * The columns of a task, declared once. Requests, the record, the statements that create, update, copy and measure tasks, exports, imports, views,
 * the activity feed, the risk of a plan and the examples of the document are derived from this table. A new column needs an entry here, the last
 * one, and a migration: `alter table tasks add x integer; select show_task_column('x');`. test/api/work/tasks/columns.test.ts compares both.
 */

interface Column {
  /** Type in PostgreSQL. */
  type: 'text' | 'text[]' | 'uuid' | 'double precision' | 'smallint' | 'integer' | 'boolean' | 'timestamptz' | 'jsonb';
  /** In the record that the API returns. */
  shown: z.ZodType;
  /** In the request that creates a task; null counts as absent. */
  create?: z.ZodType;
  /** In the request that changes a task. */
  update?: z.ZodType;
  /** Set by a series or an import when the task is created, though the request has no such field. */
  planted?: true;
  /** Value of a new task that is given none. */
  initial?: string | number | boolean | readonly never[];
  /** The next occurrence of a recurring task, and the copies of its subtasks, have the same value. */
  copied?: true;
  /** A saved view can sort by it. */
  sorted?: true;
  /** The activity feed says its value before and after: short, and readable for every member. */
  announced?: true;
  /** Holds whatever people write: JSON may escape its characters. */
  free?: true;
  /** A plan that empties it loses what a user wrote, so its risk is not low. */
  lossy?: true;
  /** A long text: a plan that replaces it loses what a user wrote, and a creation shows it once, as a parameter. */
  prose?: true;
}

/** Accepts `in-progress` in any case as `in_progress`. */
export const TaskStatus = z
  .preprocess((value) => (typeof value === 'string' ? normaliseStatus(value) : value), z.enum(TASK_STATUSES))
  .meta(buildSpellings(TASK_STATUSES));
export const TaskPriority = z
  .preprocess((value) => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.enum(TASK_PRIORITIES))
  .meta({ ...buildSpellings(TASK_PRIORITIES), description: '`none`: nobody has given the task one yet' });
/** Only with the status `done`; what leaves `done` clears it. */
export const TaskResolution = z
  .enum(TASK_RESOLUTIONS)
  .nullish()
  .meta({ description: 'Why a task is `done` that nobody completed; only with this status, and leaving it clears it' });
const StageId = Id.nullish().meta({
  description: 'A stage of the team; it sets the status too, and a change of the status alone clears it',
});
/** Tags of one request, duplicates included. More are refused before each is looked at: a body has room for hundreds of thousands. */
const MAX_SENT_TAGS = 1_000;
const MAX_TAGS = 20;
/** Counted after trimming and removing duplicates, which a schema cannot say: so the error is of the type `custom`. */
const Tags = z
  .array(TrimmedText(50))
  .max(MAX_SENT_TAGS)
  .overwrite(normaliseTags)
  .refine((tags) => tags.length <= MAX_TAGS, `must have at most ${MAX_TAGS} items`)
  .meta({ description: 'At most 20; duplicates are dropped' });
const Hours = z.number().min(0);
const Points = z.int().min(0).max(MAX_POINTS);
const POINTS = { description: 'Size in points; `null` = not estimated' };
/**
 * A date or a date-time. The operation rejects a malformed one with 400, so there is no 422 here
 * (docs/decisions/platform.md#status-400-or-422).
 */
const DueDate = Text.meta({ override: { ...DATE_FORMATS, description: 'ISO 8601 date or date-time', example: '2026-12-01' } });
const ForgeLinks = z.array(
  z.object({ repo: z.string(), number: z.int(), kind: z.enum(['issue', 'pull_request']), url: z.string().nullable() }),
);

const text = z.string();
const nullableText = text.nullable();

/** In the order of the record. */
const TASK_COLUMNS = {
  task_id: { type: 'text', shown: text, create: NewTaskId.nullish() },
  title: {
    type: 'text',
    shown: text,
    create: Title(200),
    update: Title(200).optional(),
    copied: true,
    free: true,
    sorted: true,
    announced: true,
  },
  project_id: {
    type: 'uuid',
    shown: text,
    create: Id,
    update: Id.optional().meta({ description: 'Another project of the same team; subtasks move with the task' }),
    sorted: true,
  },
  team_id: { type: 'uuid', shown: text },
  description: {
    type: 'text',
    shown: nullableText,
    create: Text.max(2000).nullish(),
    update: Text.max(2000).nullable().optional(),
    copied: true,
    free: true,
    lossy: true,
    prose: true,
  },
  assigned_to: {
    type: 'uuid',
    shown: nullableText,
    create: Id.nullish(),
    update: Id.nullable().optional(),
    sorted: true,
    announced: true,
  },
  status: {
    type: 'text',
    shown: z.enum(TASK_STATUSES),
    create: TaskStatus.nullish(),
    update: TaskStatus.optional(),
    initial: 'todo',
    sorted: true,
    announced: true,
  },
  priority: {
    type: 'text',
    shown: z.enum(TASK_PRIORITIES),
    create: TaskPriority.nullish(),
    update: TaskPriority.optional(),
    initial: 'medium',
    copied: true,
    sorted: true,
    announced: true,
  },
  due_date: {
    type: 'text',
    shown: nullableText,
    create: DueDate.nullish(),
    update: DueDate.nullable().optional(),
    sorted: true,
    announced: true,
    lossy: true,
  },
  tags: {
    type: 'text[]',
    shown: z.array(text),
    create: Tags.nullish(),
    update: Tags.nullable().optional(),
    initial: [],
    copied: true,
    announced: true,
    free: true,
    lossy: true,
  },
  estimated_hours: {
    type: 'double precision',
    shown: z.number().nullable(),
    create: Hours.max(1000).nullish(),
    update: Hours.max(1000).nullable().optional(),
    copied: true,
    sorted: true,
    announced: true,
    lossy: true,
  },
  actual_hours: {
    type: 'double precision',
    shown: z.number(),
    update: Hours.optional(),
    planted: true,
    initial: 0,
    announced: true,
  },
  parent_task_id: {
    type: 'text',
    shown: nullableText,
    create: TaskId.nullish(),
    update: TaskId.nullable().optional().meta({ description: 'null moves the task to top level' }),
  },
  position: {
    type: 'double precision',
    shown: z.number().nullable(),
    update: z.number().nullable().optional(),
    planted: true,
    copied: true,
    sorted: true,
  },
  created_by: { type: 'uuid', shown: text },
  created_at: { type: 'timestamptz', shown: Timestamp, sorted: true },
  updated_at: { type: 'timestamptz', shown: Timestamp, sorted: true },
  completed_at: { type: 'timestamptz', shown: Timestamp.nullable(), sorted: true },
  is_archived: {
    type: 'boolean',
    shown: z.boolean(),
    update: z.boolean().optional(),
    planted: true,
    initial: false,
    announced: true,
  },
  recurrence: {
    type: 'jsonb',
    shown: TaskRecurrence.nullable(),
    create: Recurrence.nullish(),
    update: Recurrence.nullable()
      .optional()
      .meta({ description: 'null ends the series; a task with more than 999 descendants cannot recur' }),
  },
  series_id: { type: 'uuid', shown: nullableText, planted: true },
  occurrence_index: { type: 'integer', shown: z.int().nullable(), planted: true },
  recurrence_of: { type: 'text', shown: nullableText, planted: true },
  forge_links: { type: 'jsonb', shown: ForgeLinks },
  version: { type: 'integer', shown: z.int() },
  cycle_id: { type: 'uuid', shown: nullableText, announced: true },
  number: {
    type: 'integer',
    shown: z
      .int()
      .nullable()
      .meta({ description: 'Counts the tasks of the team; people write it after the key of the team: HAR-12' }),
  },
  resolution: {
    type: 'text',
    shown: z
      .enum(TASK_RESOLUTIONS)
      .nullable()
      .meta({ description: 'Of a task that is `done`: `null` = completed, else why nobody completed it' }),
    create: TaskResolution,
    update: TaskResolution,
    announced: true,
  },
  estimate: {
    type: 'smallint',
    shown: Points.nullable().meta(POINTS),
    create: Points.nullish().meta(POINTS),
    update: Points.nullable().optional().meta(POINTS),
    copied: true,
    sorted: true,
    announced: true,
    lossy: true,
  },
  stage_id: { type: 'uuid', shown: nullableText, create: StageId, update: StageId, announced: true },
} as const satisfies Record<string, Column>;

type Columns = typeof TASK_COLUMNS;
type Property = Exclude<keyof Column, 'type'>;
/** Names of the columns that have a property. */
export type TaskColumn<P extends Property = 'shown'> = {
  [N in keyof Columns]: P extends keyof Columns[N] ? N : never;
}[keyof Columns];

const names = Object.keys(TASK_COLUMNS) as TaskColumn[];
const columns: Record<TaskColumn, Column> = TASK_COLUMNS;

/** Returns the names of the columns that have each of `properties`, in the order of the record. */
export const listTaskColumns = <P extends Property>(property: P): TaskColumn<P>[] =>
  names.filter((name) => columns[name][property] !== undefined) as TaskColumn<P>[];

/** Returns the schemas that the columns have in one kind of request, or in the record. */
export const pickSchemas = <P extends 'shown' | 'create' | 'update'>(property: P) =>
  Object.fromEntries(listTaskColumns(property).map((name) => [name, columns[name][property]])) as {
    [N in TaskColumn<P>]: Columns[N] extends Record<P, infer Schema> ? Schema : never;
  };

/** Columns that a statement inserts, in order: those of the request, and those that a series or an import sets. The id is not one. */
export const INSERTED_COLUMNS = names.filter((name) => name !== 'task_id' && (columns[name].create ?? columns[name].planted));

/** Columns that a copy of a task has as they are. */
export const COPIED_COLUMNS = listTaskColumns('copied');

/** Returns the values that a copy of a task has as they are. */
export const copyColumns = <Row extends Record<TaskColumn<'copied'>, unknown>>(row: Row) =>
  Object.fromEntries(COPIED_COLUMNS.map((name) => [name, row[name]])) as Pick<Row, TaskColumn<'copied'>>;

/** Columns whose value is not one word of text: a cell of a table holds it as JSON. */
export const JSON_COLUMNS = INSERTED_COLUMNS.filter((name) => !['text', 'uuid', 'timestamptz'].includes(columns[name].type));

/** Returns the columns of the record with their types, and whether they can be null. */
export const describeRecord = () =>
  names.map((name) => ({ name, ...columns[name], isNullable: columns[name].shown instanceof z.ZodNullable }));

/** Returns SQL of the declaration of a column, as `jsonb_to_recordset` takes it. */
export const declareColumn = (name: TaskColumn): string => `${name} ${columns[name].type}`;

const toLiteral = (initial: NonNullable<Column['initial']>): string => {
  if (Array.isArray(initial)) return "'{}'";
  return typeof initial === 'string' ? `'${initial}'` : String(initial);
};

/** Returns SQL of a column of `row`, a row of given values, for a new task. */
export const initialValue = (row: string, name: TaskColumn): string => {
  const { initial } = columns[name];
  return initial === undefined ? `${row}.${name}` : `coalesce(${row}.${name}, ${toLiteral(initial)})`;
};
