import { CustomField } from '../../../db/models/custom-field.js';
import { isAllowed } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { findSeat } from '../../platform/access/seats.js';
import { present } from './present.js';
import type { CustomFieldRecord, ListCustomFields } from './schema.js';

/** A list of fields; whole without a limit, as a team has at most 100. */
type FieldFilter = Pick<ListCustomFields, 'team_id' | 'entity_type'> & Partial<ListCustomFields>;

/** Lists the fields of a team in their order, archived ones too. Another team's list is empty. */
export async function listFields(
  ctx: Context,
  { team_id, entity_type, limit = 500, offset = 0 }: FieldFilter,
): Promise<CustomFieldRecord[]> {
  if (!isAllowed('custom_field.list', await findSeat(ctx, team_id))) return [];
  const fields = await CustomField.query(ctx.db)
    .where({ team_id, ...(entity_type && { entity_type }) })
    .orderBy(['position', 'created_at', 'field_id'])
    .limit(limit)
    .offset(offset);
  return fields.map(present);
}
