import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Config } from '../../platform/config.js';
import { decryptField, encryptField } from '../../platform/crypto/encryption.js';
import type { CustomFieldValue } from '../../work/custom-fields/schema.js';
import type { CreateRelation } from '../../work/relations/schema.js';

/** An id, and the version that the change left. */
export type Changed = [id: string, version: number];

/**
 * A changed task: its id and version; if it moved to another cycle, also the id of the cycle that it left, empty for none, and whether the change
 * before that gave other fields new values.
 */
export type ChangedTask = Changed | [...Changed, from: string, hasFields: 0 | 1];

export type FieldValue = CustomFieldValue['value'];
/** Values of custom fields as the change left them, and as they were before. */
export type FieldChanges = [fieldId: string, left: FieldValue, before: FieldValue][];

/** A task with new values of custom fields: its id and version, these, and the rest of a changed task. */
export type ValuedTask = [id: string, version: number, values: FieldChanges, ...rest: [] | [from: string, hasFields: 0 | 1]];

/** What takes back a change that a form has just made. */
export type Undo =
  | { kind: 'revert_tasks'; tasks: ChangedTask[] }
  /** Tasks that were closed as duplicates; version 0: only what names the original changed. `before`: the originals that some named, empty for none. */
  | { kind: 'revert_duplicates'; original: string; tasks: ChangedTask[]; before: [id: string, original: string][] }
  | { kind: 'trash_tasks'; tasks: Changed[] }
  | { kind: 'restore_tasks'; ids: string[] }
  | { kind: 'revert_project'; project: Changed }
  | { kind: 'set_fields'; type: 'task' | 'project'; id: string; values: FieldChanges }
  /** Tasks with new values of custom fields; version 0: only those changed. */
  | { kind: 'revert_fields'; tasks: ValuedTask[] }
  | { kind: 'restore_project'; id: string }
  | { kind: 'delete_relation'; relationId: string }
  | { kind: 'create_relation'; relation: CreateRelation }
  | { kind: 'delete_comment'; commentId: string }
  | { kind: 'delete_project_update'; updateId: string };

/** Browsers keep a cookie of 4,096 bytes with its name and attributes. */
const MAX_PACKED_LENGTH = 3_900;
/** A hundred tasks with several long values each: similar texts are packed to little. */
const MAX_BYTES = 256 * 1024;

/** Characters of what a change was called. */
const MAX_NAME_LENGTH = 60;

/** Minutes for which a change can be undone from its notice. */
export const UNDO_MINUTES = 10;

/**
 * Packs what a notice can undo: compressed, and encrypted for this session and the next minutes, so that a form takes back only what a change of the
 * same session has just offered. `said`: what the change was called. Undefined if it is too long for a cookie.
 */
export function packUndo(config: Config, binding: string, undo: Undo, said = ''): string | undefined {
  const until = Date.now() + UNDO_MINUTES * 60_000;
  const name = said.length > MAX_NAME_LENGTH ? `${said.slice(0, MAX_NAME_LENGTH)}…` : said;
  const json = Buffer.from(JSON.stringify({ undo, until, said: name }));
  if (json.length > MAX_BYTES) return undefined;
  const text = deflateRawSync(json).toString('base64');
  const packed = encryptField(config, 'web-undo', binding, text).toString('base64url');
  return packed.length > MAX_PACKED_LENGTH ? undefined : packed;
}

/** Returns null for what this session has not packed. */
export function unpackUndo(config: Config, binding: string, packed: string): { undo: Undo; said: string } | 'expired' | null {
  try {
    const text = decryptField(config, 'web-undo', binding, Buffer.from(packed, 'base64url'));
    const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MAX_BYTES }).toString();
    const { undo, until, said } = JSON.parse(json) as { undo: Undo; until: number; said: string };
    return until > Date.now() ? { undo, said } : 'expired';
  } catch {
    return null;
  }
}
