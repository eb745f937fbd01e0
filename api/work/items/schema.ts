import { z } from 'zod';
import { ClampedInt, Id, Moment, TaskId, Text, Timestamp, Title } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { ITEM_TYPES, type ItemType } from '../graph/item-place.js';
import { CreateProject, UpdateProject } from '../projects/schema.js';
import { PROJECT_STATUSES } from '../projects/rules.js';
import { RELATION_TYPES } from '../relations/rules.js';
import { SearchQuery } from '../search/schema.js';
import { normaliseStatus, TASK_STATUSES } from '../tasks/rules.js';
import { TaskStatus } from '../tasks/columns.js';
import { CreateTask, TrashedTask, UpdateTask } from '../tasks/schema.js';
import { ITEM_STATUSES, MAX_CONTENT_BYTES, MAX_WORK_ITEMS, NOTE_KINDS } from './rules.js';

export const Version = z.int().min(1).max(2_147_483_647);

/** The text of a note or a doc, stored byte for byte. */
export const Content = Text.refine(
  (text) => Buffer.byteLength(text) <= MAX_CONTENT_BYTES,
  `is longer than ${MAX_CONTENT_BYTES.toLocaleString('en')} bytes of UTF-8`,
).meta({ description: 'Markdown, at most 102,400 bytes of UTF-8; kept byte for byte' });

export const NoteKind = z.enum(NOTE_KINDS);

/** Accepts any case and hyphens, as the status of a task does. */
const getStatus = <T extends readonly [string, ...string[]]>(values: T) =>
  z.preprocess((value) => (typeof value === 'string' ? normaliseStatus(value) : value), z.enum(values));

const Fields = z.record(z.string(), z.unknown()).meta({
  description:
    'Fields of your own, at most 32,768 bytes of JSON. Unknown top-level fields are added to it, also in strict mode. What the service sets, such as `item_id`, is left out.',
});

/** Read-only fields of a record, which a client may send back unchanged. They never become `fields`. */
const READ_ONLY = [
  'item_id',
  'id',
  'url',
  'created_by',
  'created_at',
  'updated_at',
  'version',
  'type',
  'team_id',
  'project_id',
  'fields',
];

const stored = {
  title: Title(255),
  team_id: Id.nullish().meta({ description: 'Default: the team of the project, else your default team' }),
  project_id: Id.nullish(),
  description: Text.max(5000).nullish(),
  status: getStatus(ITEM_STATUSES).nullish(),
  fields: Fields.nullish(),
};

/** The fields of each type; all further ones become `fields`. */
export const ITEM_SCHEMAS = {
  task: CreateTask.extend({ type: z.literal('task'), fields: Fields.nullish() }).loose(),
  project: CreateProject.omit({ name: true })
    .extend({ type: z.literal('project'), title: Title(200), fields: Fields.nullish() })
    .loose(),
  note: z.looseObject({
    ...stored,
    type: z.literal('note'),
    title: Title(200),
    content: Content.nullish(),
    kind: NoteKind.nullish(),
  }),
  file: z.looseObject({ ...stored, type: z.literal('file') }),
  whiteboard: z.looseObject({ ...stored, type: z.literal('whiteboard') }),
  doc: z.looseObject({ ...stored, type: z.literal('doc'), content: Content.nullish() }),
} satisfies Record<ItemType, z.ZodObject>;

/** Names the types where the type is missing or unknown. */
const typeReason = ({ code, input }: { code?: string; input?: unknown }): string | undefined => {
  if (code !== 'invalid_union') return undefined;
  const types = ITEM_TYPES.join(', ');
  return (input as { type?: unknown }).type === undefined ? `is required: one of ${types}` : `must be one of ${types}`;
};

export const CreateWorkItem = z
  .discriminatedUnion(
    'type',
    [
      ITEM_SCHEMAS.task.meta({ id: 'CreateTaskItem' }),
      ITEM_SCHEMAS.project.meta({ id: 'CreateProjectItem' }),
      ITEM_SCHEMAS.note.meta({ id: 'CreateNoteItem' }),
      ITEM_SCHEMAS.file.meta({ id: 'CreateFileItem' }),
      ITEM_SCHEMAS.whiteboard.meta({ id: 'CreateWhiteboardItem' }),
      ITEM_SCHEMAS.doc.meta({ id: 'CreateDocItem' }),
    ],
    { error: typeReason },
  )
  .meta({ id: 'CreateWorkItem' });
export type CreateWorkItem = z.output<typeof CreateWorkItem>;

/** The fields of each type that a replacement may hold; the operation knows the type only from the stored item. */
export const REPLACEMENTS = {
  task: UpdateTask.extend({ title: Title(200), status: TaskStatus.nullish() }).loose(),
  project: UpdateProject.omit({ name: true })
    .extend({ title: Title(200), status: UpdateProject.shape.status.nullable() })
    .loose(),
  note: ITEM_SCHEMAS.note.omit({ type: true }),
  file: ITEM_SCHEMAS.file.omit({ type: true }),
  whiteboard: ITEM_SCHEMAS.whiteboard.omit({ type: true }),
  doc: ITEM_SCHEMAS.doc.omit({ type: true }),
} satisfies Record<ItemType, z.ZodObject>;

/** Returns the fields of a body that its type knows neither at creation nor later. */
export function unknownKeys(type: ItemType, body: Record<string, unknown>): Record<string, unknown> {
  const known = { ...ITEM_SCHEMAS[type].shape, ...REPLACEMENTS[type].shape };
  return Object.fromEntries(Object.entries(body).filter(([key]) => !Object.hasOwn(known, key) && !READ_ONLY.includes(key)));
}

/** The operation validates the fields by the type of the stored item. */
export const ReplaceWorkItem = z
  .looseObject({
    title: Title(255),
    type: z.enum(ITEM_TYPES).optional().meta({ description: 'The type of an item cannot change: another type is a 400' }),
    description: z.string().nullish(),
    status: z.string().nullish().meta({ description: 'Default: the first status of the type' }),
    team_id: Id.nullish().meta({ description: 'The team of an item cannot change: another team is a 400' }),
    project_id: Id.nullish().meta({ description: 'A project of the same team; a task stays in its project by default' }),
    fields: Fields.nullish(),
    content: z.string().nullish().meta({ description: 'Text of a note or a doc' }),
    kind: z.string().nullish().meta({ description: 'Kind of a note' }),
    version: Version.nullish().meta({ description: 'The version last read; an outdated one is a 409' }),
  })
  .meta({ id: 'ReplaceWorkItem' });
export type ReplaceWorkItem = z.output<typeof ReplaceWorkItem>;

export const WorkItemParams = z.object({ item_id: TaskId });

const STATUSES = [...new Set([...TASK_STATUSES, ...PROJECT_STATUSES, ...ITEM_STATUSES])] as unknown as readonly [
  string,
  ...string[],
];

export const ListWorkItems = z
  .object({
    type: z.enum(ITEM_TYPES).optional(),
    team_id: Id.optional().meta({ description: 'Another team gives an empty list. Ignored when project_id is given' }),
    project_id: Id.optional().meta({ description: 'Includes the item of the project itself' }),
    status: getStatus(STATUSES).optional(),
    updated_since: Moment.optional(),
    q: SearchQuery.optional(),
    related_to: TaskId.optional().meta({
      description: 'Only items that a relation connects with this one; an unknown item gives an empty list',
    }),
    relation_type: z
      .enum(RELATION_TYPES)
      .optional()
      .meta({ description: 'Only with `related_to`: the relation as it reads from that item' }),
    ...byOffset(ClampedInt(1, MAX_WORK_ITEMS, MAX_WORK_ITEMS), MAX_WORK_ITEMS),
  })
  .refine(({ related_to, relation_type }) => related_to !== undefined || relation_type === undefined, {
    path: ['relation_type'],
    error: 'needs related_to',
  });
export type ListWorkItems = z.output<typeof ListWorkItems>;

const workItem = {
  item_id: z.string(),
  id: z.string().meta({ description: 'The same as `item_id`' }),
  type: z.enum(ITEM_TYPES),
  title: z.string(),
  description: z.string().nullable(),
  status: z.enum(STATUSES),
  team_id: z.string(),
  project_id: z.string().nullable(),
  fields: z.record(z.string(), z.unknown()),
  url: z.string().meta({ description: 'API path of the record, without host' }),
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  version: z.int(),
};
/** An item of the work graph, as lists show it. */
export const WorkItem = z.object(workItem).meta({ id: 'WorkItem' });

/** One item with the texts that lists omit. */
export const WholeWorkItem = z
  .object({
    ...workItem,
    content: z.string().nullable().optional().meta({ description: 'Text of a note or a doc' }),
    kind: NoteKind.optional().meta({ description: 'Kind of a note' }),
  })
  .meta({ id: 'WholeWorkItem' });

/** Response to deleting an item. */
export const TrashedItem = z.object(TrashedTask.shape).meta({ id: 'TrashedItem' });
export type TrashedItem = z.output<typeof TrashedItem>;

export const TrashedWorkItem = z
  .object({
    ...TrashedTask.shape,
    cascade_count: z.int().optional().meta({ description: 'Items moved to the trash with a project' }),
  })
  .meta({ id: 'TrashedWorkItem' });
export type TrashedWorkItem = z.output<typeof TrashedWorkItem>;
