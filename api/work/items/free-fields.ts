import { ItemFieldsRow } from '../../../db/models/item-fields.js';
import type { Context } from '../../platform/context.js';
import { invalidFields } from '../../platform/errors.js';
import type { Differences } from '../../platform/changes/record-change.js';
import type { ItemType } from '../graph/item-place.js';
import { freeFieldsChange, MAX_FIELDS_BYTES } from './rules.js';
import { unknownKeys } from './schema.js';

type Fields = Record<string, unknown>;

/**
 * Escapes of NUL and of lone surrogates in JSON text: PostgreSQL cannot store such characters. JSON.stringify escapes neither when they are
 * part of a whole character. An even number of backslashes before it escapes only themselves.
 */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/**
 * Returns the free fields of a body: its `fields`, with the keys that its type does not know (docs/decisions/work.md#free-fields).
 * @throws VALIDATION_ERROR too large, or with characters that cannot be stored
 */
export function pickFreeFields(type: ItemType, body: Fields): Fields {
  const fields: Fields = { ...(body['fields'] as Fields | null | undefined), ...unknownKeys(type, body) };
  const text = JSON.stringify(fields);
  if (Buffer.byteLength(text) > MAX_FIELDS_BYTES) {
    const message = `fields is larger than ${MAX_FIELDS_BYTES.toLocaleString('en')} bytes of JSON, with the unknown fields of the body`;
    throw invalidFields([{ field: 'body.fields', message, type: 'too_big' }]);
  }
  if (UNSTORABLE.test(text)) {
    throw invalidFields([{ field: 'body.fields', message: 'fields contains characters that cannot be stored', type: 'custom' }]);
  }
  return fields;
}

/** Stores the free fields of a new task or project. */
export async function insertFreeFields(ctx: Context, itemId: string, fields: Fields): Promise<void> {
  if (Object.keys(fields).length > 0) await ItemFieldsRow.query(ctx.db).insert({ item_id: itemId, fields });
}

/**
 * Returns what replaces the free fields of a task or a project, as part of a change of it: it resolves to their difference, with sizes in
 * bytes, or to nothing if they stay. The change has locked the row and checked the permissions.
 */
export const freeFieldsWriter =
  (itemId: string, after: Fields) =>
  async ({ db }: Context): Promise<Differences> => {
    const before = (await ItemFieldsRow.query(db).findById(itemId))?.fields ?? {};
    const change = freeFieldsChange(before, after);
    if (!change) return {};
    await ItemFieldsRow.query(db).insert({ item_id: itemId, fields: after }).onConflict('item_id').merge();
    return { fields: change };
  };
