import { ItemFieldsRow } from '../../db/models/item-fields.js';
import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { invalidFields } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
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
 * Returns the free fields of a body: its `fields`, with the keys that its type does not know (docs/decisions.md#free-fields).
 * @throws VALIDATION_ERROR too large, or with characters that cannot be stored
 */
export function freeFieldsOf(type: ItemType, body: Fields): Fields {
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

/** $1 = id. Counts a change of the free fields as a change of the task or project. */
const countStatements: Record<'task' | 'project', Statement> = {
  task: {
    name: 'count_fields_change_of_task',
    text: `update tasks set version = version + 1, updated_at = now() where task_id = $1
      returning title, team_id, project_id, version`,
  },
  project: {
    name: 'count_fields_change_of_project',
    text: `update projects set version = version + 1, updated_at = now() where project_id = $1
      returning name as title, team_id, project_id, version`,
  },
};

interface Counted extends Record<string, unknown> {
  title: string;
  team_id: string;
  project_id: string;
  version: number;
}

/**
 * Replaces the free fields of a task or a project, and increments its version if they change. The caller's transaction has locked the row and
 * checked the permissions.
 */
export async function replaceFreeFields(ctx: Context, type: 'task' | 'project', itemId: string, after: Fields): Promise<void> {
  const before = (await ItemFieldsRow.query(ctx.db).findById(itemId))?.fields ?? {};
  const change = freeFieldsChange(before, after);
  if (!change) return;
  await ItemFieldsRow.query(ctx.db).insert({ item_id: itemId, fields: after }).onConflict('item_id').merge();
  const [row] = await run<Counted>(ctx.db, countStatements[type], [itemId]);
  if (!row) throw new Error(`The ${type} ${itemId} is not locked`);
  const { title, team_id, project_id, version } = row;
  await recordChange(ctx, {
    team_id,
    project_id,
    feature: type === 'task' ? 'tasks' : 'projects',
    action: 'update',
    entity_type: type,
    entity_id: itemId,
    title,
    summary: 'changed fields',
    details: { changes: { fields: change }, version },
  });
}
