import type { Text, Timestamp } from './payloads.js';

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value at a path of own properties; undefined if the path leaves the objects. */
export function at(source: unknown, ...path: string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the strings under `key` in a list of items; skips items without one. */
export const texts = (value: unknown, key: string): string[] =>
  list(value)
    .map((item) => text(at(item, key)))
    .filter((item) => item !== null);

/** Returns a string without NUL and lone surrogates, which PostgreSQL rejects in text and jsonb. */
export function text(value: unknown): Text {
  if (typeof value !== 'string') return null;
  return value.replaceAll('\u0000', '\uFFFD').replace(/\p{Cs}/gu, '\uFFFD');
}

export const flag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

export const finite = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** Run ids exceed 2^31 already. */
export const integer = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** Issue and pull request numbers go into PostgreSQL `integer` columns. */
export function columnInteger(value: unknown): number | null {
  const number = integer(value);
  return number !== null && number >= 1 && number < 2 ** 31 ? number : null;
}

const ISO_8601 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Returns a valid time in UTC, unchanged if it is already in UTC; otherwise null. */
export function timestamp(value: unknown): Timestamp {
  if (typeof value !== 'string') return null;
  const [, day = '', zone] = ISO_8601.exec(value) ?? [];
  const time = new Date(value);
  const year = time.getUTCFullYear();
  // PostgreSQL rejects the year 0, and the 30th of February, which `Date` rolls over to March.
  if (zone === undefined || !(year >= 1 && year <= 9999) || !new Date(day).toISOString().startsWith(day)) return null;
  return zone === 'Z' ? value : time.toISOString();
}
