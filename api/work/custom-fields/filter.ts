import { defineStatement, run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { filterValue } from './check-value.js';
import { FIELD_TYPE_RULES } from './field-types.js';
import type { FieldEntity, FieldType, ValueColumn } from './rules.js';

/** Fields of one kind of column, and the value that they are to have. */
interface FilterGroup {
  column: ValueColumn;
  fieldIds: string[];
  value: string | number | boolean;
}

/** A filter `custom_field[key]=value`: any value of one of the groups. No group: nothing can match. */
export type FieldFilter = FilterGroup[];

/** $1 = caller id, $2 = keys, $3 = entity type, $4 = roles that may read. The fields with such a key in the caller's teams. */
const statement = defineStatement({
  name: 'custom_fields_by_key',
  text: /* sql */ `
    select f.field_id, f.key, f.field_type from memberships m join custom_fields f on f.team_id = m.team_id
    where m.user_id = $1 and coalesce(m.role = any($4::text[]), false) and f.key = any($2::text[]) and f.entity_type = $3`,
});

interface FilterField extends Record<string, unknown> {
  field_id: string;
  key: string;
  field_type: FieldType;
}

function buildGroups(fields: readonly FilterField[], text: string): FieldFilter {
  const groups = new Map<string, FilterGroup>();
  for (const { field_id, field_type } of fields) {
    const value = filterValue(field_type, text);
    if (value === undefined) continue;
    const { column } = FIELD_TYPE_RULES[field_type];
    const group = groups.get(`${column} ${value}`);
    if (group) group.fieldIds.push(field_id);
    else groups.set(`${column} ${value}`, { column, fieldIds: [field_id], value });
  }
  return [...groups.values()];
}

/** A field of one of the caller's teams, with the column of its values. */
interface KeyedField {
  field_id: string;
  key: string;
  column: ValueColumn;
}

const readFields = (ctx: Context, entityType: FieldEntity, keys: readonly string[]): Promise<FilterField[]> =>
  run<FilterField>(ctx.db, statement, [requireUser(ctx), keys, entityType, rolesFor('custom_field.read')]);

/** Returns the fields of the caller's teams that have one of the keys. */
export async function resolveFields(ctx: Context, entityType: FieldEntity, keys: readonly string[]): Promise<KeyedField[]> {
  const fields = await readFields(ctx, entityType, keys);
  return fields.map(({ field_id, key, field_type }) => ({ field_id, key, column: FIELD_TYPE_RULES[field_type].column }));
}

/**
 * Resolves filters by the key of a field. Teams may use a key for fields of different types, so each type reads the value in its own way.
 * An unknown key, and a value that no field of the key can have, match nothing.
 */
export async function resolveFilters(
  ctx: Context,
  entityType: FieldEntity,
  filters: readonly (readonly [key: string, values: readonly string[]])[],
): Promise<FieldFilter[]> {
  if (filters.length === 0) return [];
  const keys = filters.map(([key]) => key);
  const fields = await readFields(ctx, entityType, keys);
  return filters.map(([key, values]) => {
    const own = fields.filter((field) => field.key === key);
    return values.flatMap((value) => buildGroups(own, value));
  });
}
