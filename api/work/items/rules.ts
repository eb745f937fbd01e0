import type { Feature } from '../../platform/changes/change-kinds.js';

/** Types of rows in the table `items`. */
export const STORED_TYPES = ['note', 'file', 'whiteboard', 'doc'] as const;
export type StoredType = (typeof STORED_TYPES)[number];

export const ITEM_STATUSES = ['active', 'archived'] as const;
export const NOTE_KINDS = ['note', 'idea'] as const;

/** Maximum size of the text of a note or a doc, bytes of UTF-8. */
export const MAX_CONTENT_BYTES = 102_400;
/** Maximum size of the free fields of an item, bytes of their JSON text. */
export const MAX_FIELDS_BYTES = 32_768;
/** Maximum items of one response; `offset` and `limit` end there too. */
export const MAX_WORK_ITEMS = 10_000;

/** Writable fields of a stored item. */
export interface ItemFields {
  title: string;
  description: string | null;
  content: string | null;
  kind: (typeof NOTE_KINDS)[number] | null;
  status: (typeof ITEM_STATUSES)[number];
  project_id: string | null;
  fields: Record<string, unknown>;
}

/** Returns the feature of the audit entries about an item. */
export const getFeature = (type: StoredType): Feature => (type === 'note' ? 'notes' : type === 'file' ? 'files' : 'work_graph');

/** Returns the name of a type at the start of a sentence. */
export const getName = (type: string): string => type.slice(0, 1).toUpperCase() + type.slice(1);

const countBytes = (text: string | null): number => new TextEncoder().encode(text ?? '').length;

/** Texts too long for an audit entry are described by their sizes. */
const sizes = (from: string | null, to: string | null) => ({ from_bytes: countBytes(from), to_bytes: countBytes(to) });

/** Returns the sizes of free fields that changed; undefined if they did not. The order of the keys counts, because it is kept. */
export function freeFieldsChange(before: Record<string, unknown>, after: Record<string, unknown>) {
  const [from, to] = [JSON.stringify(before), JSON.stringify(after)];
  return from === to ? undefined : sizes(from, to);
}

/** Returns the differences as `{field: {from, to}}`; `content` and `fields` with their sizes. */
export function itemChanges(before: ItemFields, after: ItemFields): Record<string, unknown> {
  const plain = ['title', 'description', 'kind', 'status', 'project_id'] as const;
  const changes: Record<string, unknown> = Object.fromEntries(
    plain.filter((key) => before[key] !== after[key]).map((key) => [key, { from: before[key], to: after[key] }]),
  );
  if (before.content !== after.content) changes['content'] = sizes(before.content, after.content);
  const fields = freeFieldsChange(before.fields, after.fields);
  if (fields) changes['fields'] = fields;
  return changes;
}
