import { CustomField } from '../../../db/models/custom-field.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { lockField } from './lock-field.js';
import { recordFieldChange } from './record-field-change.js';

/** Values that one statement deletes: each also changes the document of its item, and a statement runs at most 10 seconds. */
const BATCH = 5_000;

/** $1 = field id. */
const valuesStatement = defineStatement({
  name: 'delete_values_of_field',
  text: /* sql */ `
    with batch as (
      select v.field_id, v.entity_id from custom_field_values v where v.field_id = $1 order by v.entity_id limit ${BATCH}
    ), deleted as (
      delete from custom_field_values v using batch s where v.field_id = s.field_id and v.entity_id = s.entity_id returning 1
    )
    select count(*)::int as count from deleted`,
});

/** Deletes all values of a field that is locked. Returns their number. */
async function deleteValues(ctx: Context, fieldId: string): Promise<number> {
  for (let deleted = 0; ; ) {
    const [batch] = await run<{ count: number }>(ctx.db, valuesStatement, [fieldId]);
    const count = batch?.count ?? 0;
    deleted += count;
    if (count < BATCH) return deleted;
  }
}

/**
 * Permanently deletes a field with its values, those of items in the trash too. Returns their number.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager
 */
export function deleteField(ctx: Context, fieldId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    // A transaction that sets a value shares this lock, so no value appears after the count.
    const field = await lockField(ctx, fieldId);
    const deleted_values = await deleteValues(ctx, fieldId);
    await field.$query(ctx.db).delete();
    await recordFieldChange(ctx, field, 'delete', { field_type: field.field_type, deleted_values });
    return deleted_values;
  });
}

/** Permanently deletes the fields of a team with their values, in the transaction that deletes the team. Returns the number of fields. */
export async function deleteFieldsOfTeam(ctx: Context, teamId: string): Promise<number> {
  const fields = await CustomField.query(ctx.db).where({ team_id: teamId }).orderBy('field_id').forUpdate();
  for (const { field_id } of fields) await deleteValues(ctx, field_id);
  return CustomField.query(ctx.db).where({ team_id: teamId }).delete();
}
