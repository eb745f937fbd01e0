import { CustomField } from '../../../../db/models/custom-field.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { Id, NO_ID } from '../../../platform/fields.js';
import { notFound } from '../../../platform/errors.js';
import { parseValue } from '../../../work/custom-fields/check-value.js';
import { setValues } from '../../../work/custom-fields/values/set-values.js';
import type { RawValue } from '../../../work/custom-fields/rules.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { Batch, Row, Write } from './batch.js';
import { Refusal, withSavepoint } from './savepoint.js';

/** $1 = field ids, $2 = item ids, pairs. Values that exist. */
const existingStatement = defineStatement({
  name: 'custom_field_values_of_import',
  text: /* sql */ `
    select v.field_id, v.entity_id from custom_field_values v
    where (v.field_id, v.entity_id) in (select * from unnest($1::uuid[], $2::text[]))`,
});

/** A cell of CSV writes a list as JSON. */
function parseList(text: string): RawValue {
  if (!text.startsWith('[')) return text;
  try {
    return JSON.parse(text) as RawValue;
  } catch {
    return text;
  }
}

interface ValueWrite {
  row: Row<'custom_field_value'>;
  field_id: string;
  entity_id: string;
}

const getPairKey = ({ field_id, entity_id }: Pick<ValueWrite, 'field_id' | 'entity_id'>): string => `${field_id} ${entity_id}`;

/** Finds the ids for which the rows stand. */
async function identify({ refs }: Batch, rows: PreparedRow[]): Promise<ValueWrite[]> {
  const typed = rows as unknown as Row<'custom_field_value'>[];
  await refs.load(
    ['custom_field'],
    typed.map(({ record }) => record.field_id),
  );
  await refs.load(
    ['task', 'project'],
    typed.map(({ record }) => record.entity_id),
  );
  return typed.map((row) => ({
    row,
    field_id: Id.parse(refs.getId(['custom_field'], row.record.field_id)),
    entity_id: refs.getId([row.record.entity_type], row.record.entity_id),
  }));
}

/** Writes values of custom fields. A value that an item has is a conflict, whatever it is. */
export const writeValues: Write = async (batch, rows) => {
  const { ctx, result, team_id, on_conflict } = batch;
  const wanted = await identify(batch, rows);
  const fields = await CustomField.query(ctx.db)
    .whereIn(
      'field_id',
      [...new Set(wanted.map(({ field_id }) => field_id))].filter((id) => id !== NO_ID),
    )
    .where({ team_id });
  const types = new Map(fields.map(({ field_id, field_type }) => [field_id, field_type]));
  const places = await findPlaces(ctx, [...new Set(wanted.map(({ entity_id }) => entity_id))]);
  const values = [wanted.map(({ field_id }) => field_id), wanted.map(({ entity_id }) => entity_id)];
  const existing = new Set((await run<ValueWrite & Record<string, unknown>>(ctx.db, existingStatement, values)).map(getPairKey));
  for (const one of wanted) {
    const { row, field_id, entity_id } = one;
    const { entity_type, value } = row.record;
    const type = types.get(field_id);
    const place = places.get(entity_id);
    const id = `${field_id}:${entity_id}`;
    const isKnown = existing.has(getPairKey(one));
    if (!type) result.failed(row, notFound('Custom field').message);
    else if (place?.team_id !== team_id || place.item_type !== entity_type) {
      result.failed(row, notFound(entity_type === 'task' ? 'Task' : 'Project').message);
    } else if (isKnown && on_conflict === 'error') result.failed(row, 'The item has a value of this field already');
    else if (isKnown && on_conflict === 'skip') result.skipped(row, { id });
    else {
      // A cell of CSV is text; the type of the field says what it stands for.
      const typed = typeof value === 'string' ? parseValue(type, value, parseList) : value;
      const item = { field_id, entity_type, entity_id, value: typed };
      const set = await withSavepoint(ctx, (ctx) => setValues(ctx, [item], false));
      if (set instanceof Refusal) result.failed(row, set.message);
      else {
        existing.add(getPairKey(one));
        if (isKnown) result.updated(row, { id });
        else result.created(row, { id });
      }
    }
  }
};
