import { describeRecord } from '../columns.js';

/** SQL that tells how large the record of a task is as JSON without writing it; the columns say what each adds. */

const record = describeRecord();
type RecordColumn = (typeof record)[number];
const free = record.filter((column) => column.free);

/** Bytes of a value in JSON at most; a type that is absent is measured value by value. */
const MAX_WIDTHS: Partial<Record<RecordColumn['type'], number>> = {
  smallint: 6,
  integer: 11,
  boolean: 5,
  'double precision': 24,
};
/** Bytes of every value of a type in JSON. */
const WIDTHS: Partial<Record<RecordColumn['type'], number>> = { uuid: 38, timestamptz: 26 };
const NULL_BYTES = 4;
const QUOTES = 2;
/** Braces, and for each member its name in quotes, a colon and a comma. */
const FRAME = 2 + record.reduce((bytes, { name }) => bytes + name.length + 4, 0);

/** SQL of the characters of a column in which people write anything. */
const joinText = (row: string, { name, type }: RecordColumn): string =>
  type === 'text[]' ? `array_to_string(${row}.${name}, '')` : `${row}.${name}`;

/** Bytes that a column adds to each record. */
function countFixedBytes({ type, isNullable, free }: RecordColumn): number {
  const width = WIDTHS[type];
  if (width !== undefined) return isNullable ? NULL_BYTES : width;
  if (type === 'jsonb') return 0;
  return MAX_WIDTHS[type] ?? (free && isNullable ? NULL_BYTES : QUOTES);
}

/** SQL of the bytes that depend on the value of a column, beside its text; null adds none. */
function measureValue(row: string, { name, type, isNullable, free }: RecordColumn): string[] {
  const value = `${row}.${name}`;
  if (type === 'text[]') return [`${QUOTES + 1} * cardinality(${value})`];
  if (type === 'jsonb') {
    const bytes = `octet_length(${value}::text)`;
    // An empty list is not rendered, which is what most tasks have.
    return [isNullable ? `coalesce(${bytes}, ${NULL_BYTES})` : `case when ${value} = '[]' then 2 else ${bytes} end`];
  }
  if (type !== 'text' || free) return [];
  return [isNullable ? `coalesce(octet_length(${value}), ${NULL_BYTES - QUOTES})` : `octet_length(${value})`];
}

/** SQL of the bytes of what people write in the task `row`, before JSON escapes it. */
export const buildTextBytesSql = (row: string): string =>
  free.map((column) => `coalesce(octet_length(${joinText(row, column)}), 0)`).join(' + ');

/** SQL of the bytes of the same texts as JSON, without quotes. */
export const buildJsonBytesSql = (row: string): string =>
  free.map((column) => `coalesce(octet_length(to_json(${joinText(row, column)})::text) - ${QUOTES}, 0)`).join(' + ');

/**
 * SQL of two columns with sizes of the task `row`: `bytes` of its record as JSON, at most a hundred too many, but without the characters that JSON
 * escapes; `texts`, whose characters become six at most. Long texts are not read for it.
 */
export function buildSizesSql(row: string): string {
  const fixed = FRAME + record.reduce((bytes, column) => bytes + countFixedBytes(column), 0);
  const measured = record.flatMap((column) => measureValue(row, column));
  const optional = Object.entries(WIDTHS).map(([type, width]) => {
    const nullable = record.filter((column) => column.type === type && column.isNullable);
    return `${width - NULL_BYTES} * num_nonnulls(${nullable.map(({ name }) => `${row}.${name}`).join(', ')})`;
  });
  const texts = buildTextBytesSql(row);
  return `${texts} as texts, ${[fixed, texts, ...measured, ...optional].join(' + ')} as bytes`;
}
