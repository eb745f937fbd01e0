import { CustomField } from '../../../db/models/custom-field.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';

/**
 * Returns a field that the caller may change, locked until the commit. The role is read first, so a stranger locks nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager
 */
export async function lockField(ctx: Context, fieldId: string): Promise<CustomField> {
  const known = await CustomField.query(ctx.db).findById(fieldId);
  if (!known) throw notFound('Custom field');
  authorize('custom_field.manage', await findSeat(ctx, known.team_id));
  const field = await CustomField.query(ctx.db).findById(fieldId).forUpdate();
  if (!field) throw notFound('Custom field');
  return field;
}
