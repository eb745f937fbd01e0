import { CustomField } from '../../../db/models/custom-field.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';

/**
 * Returns a field that the caller may change, locked until the commit, alone or with all fields of its team in the order of their ids. The role is
 * read first, so a stranger locks nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager
 */
export async function lockField(ctx: Context, fieldId: string, what: 'field' | 'team' = 'field'): Promise<CustomField> {
  const known = await CustomField.query(ctx.db).findById(fieldId);
  if (!known) throw notFound('Custom field');
  authorize('custom_field.manage', await findSeat(ctx, known.team_id));
  const scope = what === 'team' ? { team_id: known.team_id } : { field_id: fieldId };
  const locked = await CustomField.query(ctx.db).where(scope).orderBy('field_id').forUpdate();
  const field = locked.find(({ field_id }) => field_id === fieldId);
  if (!field) throw notFound('Custom field');
  return field;
}
