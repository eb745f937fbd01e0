import type { Parameters } from '../../../db/statement-parameters.js';
import type { FieldFilter } from './filter.js';
import type { ValueColumn } from './rules.js';

/** Comparison by the index of each column. */
const EQUALS: Record<ValueColumn, (value: unknown, $: Parameters) => string> = {
  value_text(value, $) {
    const text = $.add(value, 'text');
    return `left(v.value_text, 200) = left(${text}, 200) and v.value_text = ${text}`;
  },
  value_number: (value, $) => `v.value_number = ${$.add(value, 'double precision')}`,
  value_date: (value, $) => `v.value_date = ${$.add(value, 'date')}`,
  value_boolean: (value, $) => `v.value_boolean = ${$.add(value, 'boolean')}`,
  value_list: (value, $) => `v.value_list @> array[${$.add(value, 'text')}]`,
};

/** The rows `v` of the items that have one of the values, readable by the caller or not: one statement for each kind of column. */
const valuesWith = (filter: FieldFilter, $: Parameters): string[] =>
  filter.map(
    ({ column, fieldIds, value }) =>
      `custom_field_values v where v.field_id = any(${$.add(fieldIds, 'uuid[]')}) and ${EQUALS[column](value, $)}`,
  );

function idsWith(filter: FieldFilter, $: Parameters): string {
  const some = valuesWith(filter, $).map((rows) => `select v.entity_id from ${rows}`);
  return some.length === 0 ? 'select null::text as entity_id where false' : some.join(' union all ');
}

/** Conditions that the item with this id has none of the values. Each value is looked up by its field and item. */
export const withoutFields = (id: string, filters: readonly FieldFilter[], $: Parameters): string[] =>
  filters.flat().map((group) => `not exists (select from ${valuesWith([group], $).join('')} and v.entity_id = ${id} offset 0)`);

/** Ids, each once, of the items that pass every filter, as column `entity_id`. An item belongs to one team, which has one field of a key. */
export const idsWithAll = (filters: readonly FieldFilter[], $: Parameters): string =>
  filters.map((filter) => `(${idsWith(filter, $)})`).join(' intersect ');

/**
 * Fragment of a record: the values of the item with this id as members of a JSON object, and a mark that changes with each of them. Joined
 * as `c`; both are null for an item that never had a value.
 */
export const buildValuesSql = (id: string): string => /* sql */ `
  left join lateral (
    select d.members, hashtextextended(d.entity_id, hashxidextended(d.xmin, 0)) as mark
    from custom_field_documents d where d.entity_id = ${id} limit 1
  ) c on true`;

/**
 * The record `json` (text) with its values as `custom_fields`. The last member of a record is no object, so `rtrim` takes its own brace alone;
 * `left(json, -1)` counts the characters, which costs twice as much.
 */
export const withValues = (json: string): string =>
  `rtrim(${json}, '}') || ',"custom_fields":{' || coalesce(c.members, '') || '}}'`;

/**
 * The same for a record with a member that only it has, before which the values go: a third less than trimming. A text of the record cannot
 * hold the name in quotes, which JSON escapes there.
 */
export const withValuesBefore = (member: string, json: string): string =>
  `replace(${json}, ',"${member}":', ',"custom_fields":{' || coalesce(c.members, '') || '},"${member}":')`;
