import { z } from 'zod';
import { CreateAutomation } from '../../../automation/definitions/schema.js';
import { normaliseDate } from '../../../platform/dates.js';
import { AddComment } from '../../../work/comments/schema.js';
import { Text, Timestamp } from '../../../platform/fields.js';
import { CreateCustomField, FieldValue } from '../../../work/custom-fields/schema.js';
import { FIELD_ENTITIES } from '../../../work/custom-fields/rules.js';
import { CYCLE_STATUSES } from '../../../work/cycles/rules.js';
import { CreateCycle, CycleSnapshot } from '../../../work/cycles/schema.js';
import { ITEM_SCHEMAS } from '../../../work/items/schema.js';
import { CreateNote } from '../../../work/items/notes/schema.js';
import { CreateProject } from '../../../work/projects/schema.js';
import { PostProjectUpdate } from '../../../work/projects/updates/schema.js';
import { RELATION_TYPES } from '../../../work/relations/rules.js';
import { CreateTask, UpdateTask } from '../../../work/tasks/schema.js';
import { toAddress } from '../importers/values.js';

/**
 * Records of an import: the fields of the routes that create them, with ids of the file. An id is a reference, in whatever form; the import
 * decides whether it can be kept. Other fields of an exported record are left out.
 */

/** Largest number of tasks or hours of a cycle. */
const MAX_COUNT = 1_000_000_000;

const Ref = Text.min(1).max(128);
const Fields = z.record(z.string(), z.unknown()).nullish();
const project = CreateProject.omit({ team_id: true }).extend({
  project_id: Ref.nullish(),
  lead_id: Ref.nullish(),
  fields: Fields,
});

const project_update = PostProjectUpdate.extend({ update_id: Ref.nullish(), project_id: Ref.nullish() });

const custom_field = CreateCustomField.omit({ team_id: true }).extend({
  field_id: Ref.nullish(),
  is_archived: z.boolean().nullish(),
});

/** Archives a field after its values are in. */
const custom_field_archive = z.object({ field_id: Ref });

const { name, goal, start_date, end_date, auto_complete, repeats } = CreateCycle.shape;
const cycle = z.object({
  cycle_id: Ref.nullish(),
  project_id: Ref.nullish(),
  name,
  goal,
  start_date,
  end_date,
  auto_complete,
  repeats,
});

const Count = z.int().min(0).max(MAX_COUNT);
const Sum = z.number().min(0).max(MAX_COUNT);
/** What the report of a completed cycle shows; charts are drawn from it. */
const snapshot = CycleSnapshot.extend({
  committed: Count,
  added: Count,
  completed: Count,
  carried_over: Count,
  points: z.object({ committed: Sum, completed: Sum }),
  estimate: z.object({ scope: Count, completed: Count, without: Count }).optional(),
  days: z.array(z.object({ date: z.iso.date(), remaining: Count, estimate: Count.optional() })).max(366),
});

/** The state of a cycle, set after its tasks are in it. Without a snapshot, the figures of a completed one are those of its tasks. */
const cycle_state = z.object({
  cycle_id: Ref,
  status: z.enum(CYCLE_STATUSES),
  snapshot: snapshot.nullish(),
  started_at: Timestamp.nullish(),
  completed_at: Timestamp.nullish(),
});

/** A time of the file; text that says none counts as none. */
const Moment = z
  .string()
  .nullish()
  .transform((text) => (text == null ? null : normaliseDate(text)));

const task = CreateTask.extend({
  task_id: Ref.nullish(),
  stage_id: Ref.nullish(),
  project_id: Ref.nullish(),
  parent_task_id: Ref.nullish(),
  assigned_to: Ref.nullish(),
  /** Address of a person who gets the task when they join; importers of other products' files set it. */
  expected_assignee: Text.transform(toAddress).nullish(),
  cycle_id: Ref.nullish(),
  actual_hours: UpdateTask.shape.actual_hours.nullable(),
  position: UpdateTask.shape.position,
  is_archived: z.boolean().nullish(),
  series_id: Ref.nullish(),
  occurrence_index: z.int().min(1).nullish(),
  created_at: Moment,
  completed_at: Moment,
  fields: Fields,
});

const comment = AddComment.extend({
  comment_id: Ref.nullish(),
  task_id: Ref,
  parent_comment_id: Ref.nullish(),
  deleted: z.boolean().nullish(),
});

const note = CreateNote.omit({ team_id: true }).extend({
  note_id: Ref.nullish(),
  project_id: Ref.nullish(),
  description: ITEM_SCHEMAS.note.shape.description,
  status: ITEM_SCHEMAS.note.shape.status,
  fields: Fields,
});

const work_item = z.object({
  item_id: Ref.nullish(),
  type: z.enum(['doc', 'whiteboard', 'file']),
  title: ITEM_SCHEMAS.doc.shape.title,
  content: ITEM_SCHEMAS.doc.shape.content,
  project_id: Ref.nullish(),
  description: ITEM_SCHEMAS.doc.shape.description,
  status: ITEM_SCHEMAS.doc.shape.status,
  fields: Fields,
  file: z.object({ size: z.number(), content_type: Text.max(255), sha256: Text.max(64) }).nullish(),
});

const relation = z.object({ relation_id: Ref.nullish(), source_id: Ref, target_id: Ref, relation_type: z.enum(RELATION_TYPES) });

const custom_field_value = z.object({
  field_id: Ref,
  entity_type: z.enum(FIELD_ENTITIES),
  entity_id: Ref,
  value: FieldValue,
});

const automation = CreateAutomation.omit({ team_id: true, is_active: true }).extend({
  automation_id: Ref.nullish(),
  project_id: Ref.nullish(),
});

export const SCHEMAS = {
  project,
  project_update,
  custom_field,
  custom_field_archive,
  cycle,
  cycle_state,
  task,
  comment,
  note,
  work_item,
  relation,
  custom_field_value,
  automation,
} as const;

export type RecordKind = keyof typeof SCHEMAS;
export type RecordOf<K extends RecordKind> = z.output<(typeof SCHEMAS)[K]>;

/** Kinds of what is done after the records of a file are in; in the file they are part of other records. */
const LATER = ['cycle_state', 'custom_field_archive'];
/** Kinds that a file may name. */
export const KINDS = Object.keys(SCHEMAS).filter((kind) => !LATER.includes(kind)) as Exclude<
  RecordKind,
  'cycle_state' | 'custom_field_archive'
>[];
export const isKind = (text: unknown): text is RecordKind => typeof text === 'string' && (KINDS as string[]).includes(text);
