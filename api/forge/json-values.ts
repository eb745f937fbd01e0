import type { Text, Timestamp } from './payloads.js';

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path of own properties; undefined where the path leaves the objects. What an object inherits is no field. */
export function at(source: unknown, ...path: string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The strings that the items of a list carry under `key`; items without one are left out. */
export const texts = (value: unknown, key: string): string[] =>
  list(value)
    .map((item) => text(at(item, key)))
    .filter((item) => item !== null);

/** A string as sent, but for NUL and lone surrogates, which PostgreSQL's text and jsonb refuse. */
export function text(value: unknown): Text {
  if (typeof value !== 'string') return null;
  return value.replaceAll('\u0000', '\uFFFD').replace(/\p{Cs}/gu, '\uFFFD');
}

export const flag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

export const finite = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** Run ids are past 2^31 already. */
export const integer = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null;

/** Issue and pull request numbers go into PostgreSQL `integer` columns. */
export function columnInteger(value: unknown): number | null {
  const number = integer(value);
  return number !== null && number >= 1 && number < 2 ** 31 ? number : null;
}

const ISO_8601 = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A time that exists, in UTC: as sent when it is so already, else converted. */
export function timestamp(value: unknown): Timestamp {
  if (typeof value !== 'string') return null;
  const [, day = '', zone] = ISO_8601.exec(value) ?? [];
  const time = new Date(value);
  const year = time.getUTCFullYear();
  // PostgreSQL refuses the year 0, and the 30th of February, which `Date` rolls over to March.
  if (zone === undefined || !(year >= 1 && year <= 9999) || !new Date(day).toISOString().startsWith(day)) return null;
  return zone === 'Z' ? value : time.toISOString();
}
