import { isDeepStrictEqual } from 'node:util';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { isUuid } from '../../platform/ids.js';
import type { Fields } from '../work-actions/action.js';

/** Parameter that sets values of custom fields, by the ids of the fields once their names are resolved. */
export const CUSTOM_FIELDS = 'custom_fields';

/** $1 = task id, $2 = field ids. */
const statement = defineStatement({
  name: 'staged_custom_values',
  text: /* sql */ `
    select v.field_id, custom_field_json(v) as value from custom_field_values v where v.entity_id = $1 and v.field_id = any($2::uuid[])`,
});

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the custom fields that parameters, or a record of what they change, name. */
export const customFieldsIn = (fields: Fields | null): Fields => {
  const found = fields?.[CUSTOM_FIELDS];
  return isRecord(found) ? found : {};
};

/** Reads the values that some fields of a task have now, null where there is none. Checks no permission: the operation does. */
export async function readCustomValues(ctx: Pick<Context, 'db'>, taskId: string, fields: Fields): Promise<Fields> {
  const ids = Object.keys(fields).filter(isUuid);
  const rows = ids.length === 0 ? [] : await run<{ field_id: string; value: unknown }>(ctx.db, statement, [taskId, ids]);
  const values = new Map(rows.map(({ field_id, value }) => [field_id, value]));
  return Object.fromEntries(ids.map((id) => [id, values.get(id) ?? null]));
}

interface Staged {
  entity_id: string | null;
  params: Fields | null;
  before: Fields | null;
}

/**
 * Whether the custom fields that an action sets are not as they were when it was staged: the version of a task does not count them. A field that was as
 * wanted then has the wanted value.
 */
export async function customFieldsChanged(ctx: Pick<Context, 'db'>, { entity_id, params, before }: Staged): Promise<boolean> {
  const wanted = customFieldsIn(params);
  if (entity_id === null || Object.keys(wanted).length === 0) return false;
  const was = { ...wanted, ...customFieldsIn(before) };
  const now = await readCustomValues(ctx, entity_id, wanted);
  return Object.entries(now).some(([id, value]) => !isDeepStrictEqual(value, was[id]));
}
