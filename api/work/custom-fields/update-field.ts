import { isDeepStrictEqual } from 'node:util';
import { fn } from 'objection';
import { CustomField } from '../../../db/models/custom-field.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, invalid } from '../../platform/errors.js';
import { checkOptions } from './check-options.js';
import { lockField } from './lock-field.js';
import { present } from './present.js';
import { recordFieldChange } from './record-field-change.js';
import type { CustomFieldRecord, UpdateCustomField } from './schema.js';

const FIXED = ['team_id', 'key', 'field_type', 'entity_type'] as const;

/** @throws INVALID_REQUEST another team, key, type or entity than the stored one */
function checkFixed(field: CustomField, input: UpdateCustomField): void {
  const changed = FIXED.filter((name) => input[name] !== undefined && input[name] !== field[name]);
  if (changed.length === 0) return;
  throw invalid(`${changed.join(', ')} cannot change`, { detail: 'Create another field, and archive this one.' });
}

const CHANGEABLE = ['name', 'options', 'required', 'position', 'is_archived'] as const;
type Changes = Partial<Pick<CustomField, (typeof CHANGEABLE)[number]>>;

/** Returns what differs from the stored field. */
function listChanges(field: CustomField, input: UpdateCustomField): Changes {
  const options = input.options && checkOptions(field.field_type, input.options);
  const given = { ...input, options };
  const changed = CHANGEABLE.filter(
    (name) => given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(field[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, given[name]]));
}

/** What an editor of a field was shown of it. */
export type ShownField = Pick<CustomFieldRecord, 'name' | 'required' | 'options'>;

/** @throws RESOURCE_CONFLICT the field differs from what its editor was shown */
function checkShown(field: CustomField, shown: ShownField | undefined): void {
  const { name, required, options } = present(field);
  if (shown && !isDeepStrictEqual(shown, { name, required, options }))
    throw conflict('The field was changed after you opened the page');
}

/**
 * Changes a field; with `shown`, only if it is still that. Values stay as they are, those of a choice that is gone too (docs/decisions/work.md#custom-fields). Archiving waits for the
 * values that are being set.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | INVALID_REQUEST a property that cannot change | VALIDATION_ERROR choices
 * that do not fit the type | RESOURCE_CONFLICT it is not what was shown
 */
export function updateField(
  ctx: Context,
  fieldId: string,
  input: UpdateCustomField,
  shown?: ShownField,
): Promise<CustomFieldRecord> {
  return inTransaction(ctx, async (ctx) => {
    const field = await lockField(ctx, fieldId);
    checkFixed(field, input);
    checkShown(field, shown);
    const changes = listChanges(field, input);
    if (Object.keys(changes).length === 0) return present(field);
    await field.$query(ctx.db).patch({ ...changes, updated_at: fn.now() });
    const { options, ...others } = changes;
    const details = { ...others, ...(options && { options: options.length }) };
    const updated = (await CustomField.query(ctx.db).findById(fieldId)) as CustomField;
    await recordFieldChange(ctx, updated, 'update', details);
    return present(updated);
  });
}
