import { buildSentence, ZOD_MESSAGES } from '../../../platform/validation/messages.js';
import type { ImportRecord } from '../importers/record.js';
import { isKind, KINDS, type RecordKind, type RecordOf, SCHEMAS } from './schemas.js';

/** A valid record of one kind. */
export interface CheckedRecord {
  kind: RecordKind;
  record: Record<string, unknown>;
}

/** Messages of one record that are shown. */
const MAX_MESSAGES = 3;
const MAX_LENGTH = 300;

/** A cycle's record says its state, which is set when its tasks are in. */
function withState(value: ImportRecord, record: RecordOf<'cycle'>): CheckedRecord[] | string {
  const status = value['status'];
  if (status === undefined || status === null || status === 'planned') return [{ kind: 'cycle', record }];
  const state = check('cycle_state', value);
  return typeof state === 'string' ? state : [{ kind: 'cycle', record }, ...state];
}

/** An archived field takes no values, so it is archived when they are in. */
function withArchive(record: RecordOf<'custom_field'>): CheckedRecord[] {
  const field: CheckedRecord = { kind: 'custom_field', record };
  if (!record.is_archived || record.field_id == null) return [field];
  return [field, { kind: 'custom_field_archive', record: { field_id: record.field_id } }];
}

/** A deleted comment is kept for its replies: it is created, and deleted when they are in. */
const toText = (value: ImportRecord): ImportRecord =>
  value['deleted'] === true && value['content'] === '' ? { ...value, content: '(deleted)' } : value;

function check(kind: RecordKind, value: ImportRecord): CheckedRecord[] | string {
  const parsed = SCHEMAS[kind].safeParse(kind === 'comment' ? toText(value) : value, ZOD_MESSAGES);
  if (parsed.success) {
    if (kind === 'cycle') return withState(value, parsed.data as RecordOf<'cycle'>);
    if (kind === 'custom_field') return withArchive(parsed.data as RecordOf<'custom_field'>);
    return [{ kind, record: parsed.data }];
  }
  const messages = parsed.error.issues.slice(0, MAX_MESSAGES).map((issue) => buildSentence(issue, 'The record'));
  return messages.join('; ').slice(0, MAX_LENGTH);
}

/** Validates a record by the fields of the route that creates it. Returns it in its parts, or what is wrong, as sentences. */
export function checkRecord(value: unknown): CheckedRecord[] | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'The record must be an object';
  const record = value as ImportRecord;
  if (record.entity === undefined) return 'entity is missing, which files of this service have: it names the kind of the record';
  if (!isKind(record.entity)) return `entity must be one of ${KINDS.join(', ')}`;
  return check(record.entity, record);
}
