import { listTaskColumns } from '../../work/tasks/columns.js';
import { CUSTOM_FIELDS, customFieldsIn } from './custom-values.js';
import type { Target } from './read-target.js';

type Fields = Record<string, unknown>;

/** Fields that every write changes, or that follow from others. */
const DERIVED = new Set([
  'version',
  'updated_at',
  'created_at',
  'completed_at',
  'created_by',
  'task_id',
  'team_id',
  'series_id',
  'occurrence_index',
  'recurrence_of',
  'forge_links',
  'number',
]);
/** Fields of a task that a deletion shows. */
const IDENTIFYING = [
  'title',
  'name',
  'status',
  'priority',
  'assigned_to',
  'due_date',
  'content',
  'source_id',
  'target_id',
  'relation_type',
];
/** Long texts of a creation stand in its parameters already: those of tasks and projects, and the text of a comment or an item. */
const PROSE: readonly string[] = [...listTaskColumns('prose'), 'content'];

const isEmpty = (value: unknown): boolean =>
  value == null || value === '' || value === false || value === 0 || (Array.isArray(value) && value.length === 0);

const pick = (record: Readonly<Fields>, fields: readonly string[]): Fields =>
  Object.fromEntries(fields.filter((field) => !isEmpty(record[field])).map((field) => [field, record[field]]));

/** Returns the fields that differ between two records, as they were and as they are. */
export function differences(before: Readonly<Fields>, after: Readonly<Fields>): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter(
    (field) => !DERIVED.has(field) && JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  const set = customFieldsIn(after);
  const custom = Object.keys(set).filter((id) => JSON.stringify(customFieldsIn(before)[id]) !== JSON.stringify(set[id]));
  const valueOf = (record: Readonly<Fields>, field: string): unknown =>
    field === CUSTOM_FIELDS ? Object.fromEntries(custom.map((id) => [id, customFieldsIn(record)[id] ?? null])) : record[field];
  const of = (record: Readonly<Fields>): Fields =>
    Object.fromEntries(changed.map((field) => [field, valueOf(record, field) ?? null]));
  return { before: of(before), after: of(after) };
}

/** Returns the fields that a creation sets, without its long texts. */
export const createdFields = ({ record }: Target): Fields =>
  pick(
    record,
    Object.keys(record).filter((field) => !DERIVED.has(field) && !PROSE.includes(field)),
  );

/** Returns the fields by which a reader recognizes what a deletion removes. */
export const deletedFields = ({ record }: Target): Fields => pick(record, IDENTIFYING);

/** Replaces the ids of what a plan has created by its references: they are others in the dry run and in the end. `made`: ids by index. */
export function named(fields: Readonly<Fields>, made: ReadonlyMap<number, string>): Fields {
  const names = new Map([...made].map(([index, id]) => [id, `$${index}`]));
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, (typeof value === 'string' && names.get(value)) || value]),
  );
}
