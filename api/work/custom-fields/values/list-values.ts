import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { findPlaces } from '../../graph/item-place.js';
import type { CustomFieldValue, ListCustomFieldValues } from '../schema.js';

/** $1 = entity id. In the order of the fields; a team has a bounded number of them. */
const statement = defineStatement({
  name: 'custom_field_values_of',
  text: /* sql */ `
    select json_build_object('value_id', v.value_id, 'field_id', v.field_id, 'key', v.key, 'entity_type', v.entity_type,
      'entity_id', v.entity_id, 'value', custom_field_json(v), 'updated_by', v.updated_by,
      'updated_at', to_char(v.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as record
    from custom_field_values v join custom_fields f on f.field_id = v.field_id
    where v.entity_id = $1 order by f.position, f.created_at, f.field_id`,
});

/**
 * Lists the values of a live task or project, those of archived fields too.
 * @throws RESOURCE_NOT_FOUND no such item of the type | PERMISSION_DENIED of another team
 */
export async function listValues(ctx: Context, { entity_type, entity_id }: ListCustomFieldValues): Promise<CustomFieldValue[]> {
  const place = (await findPlaces(ctx, [entity_id])).get(entity_id);
  if (place?.item_type !== entity_type) throw notFound(entity_type === 'task' ? 'Task' : 'Project');
  authorize('custom_field.read', await findSeat(ctx, place.team_id));
  const rows = await run<{ record: CustomFieldValue }>(ctx.db, statement, [entity_id]);
  return rows.map(({ record }) => record);
}
