import { CustomField } from '../../db/models/custom-field.js';
import { run, type Statement } from '../../db/statement.js';
import { type Context, inTransaction } from '../core/context.js';
import { lockField } from './lock-field.js';
import { recordFieldChange } from './record-field-change.js';

/** $1 = field id. Counted here, because the key of the field would delete them unseen. */
const valuesStatement: Statement = {
  name: 'delete_values_of_field',
  text: /* sql */ `
    with deleted as (delete from custom_field_values where field_id = $1 returning 1)
    select count(*)::int as count from deleted`,
};

/**
 * Permanently deletes a field with its values, those of items in the trash too. Returns their number.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager
 */
export function deleteField(ctx: Context, fieldId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    // Whoever sets a value shares this lock, so no value appears after the count.
    const field = await lockField(ctx, fieldId);
    const [deleted] = await run<{ count: number }>(ctx.db, valuesStatement, [fieldId]);
    const deleted_values = deleted?.count ?? 0;
    await field.$query(ctx.db).delete();
    await recordFieldChange(ctx, field, 'delete', { field_type: field.field_type, deleted_values });
    return deleted_values;
  });
}

/** Permanently deletes the fields of a team with their values, in the transaction that deletes the team. Returns the number of fields. */
export const deleteFieldsOfTeam = async (ctx: Context, teamId: string): Promise<number> =>
  CustomField.query(ctx.db).where({ team_id: teamId }).delete();
