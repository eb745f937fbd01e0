import { invalid } from '../../platform/errors.js';
import { parseJson } from '../../platform/endpoint/read-body.js';

const FORM = 'application/x-www-form-urlencoded';
const MAX_TYPE_LENGTH = 200;

type Query = Record<string, string | string[] | undefined>;

/** Returns the media type of a body, in lower case and without parameters; null for none. */
export const mediaType = (header: string | undefined): string | null =>
  header?.split(';', 1)[0]?.trim().toLowerCase().slice(0, MAX_TYPE_LENGTH) || null;

/** Returns the fields of a form; of a repeated one, a list. */
function readForm(bytes: Buffer): unknown {
  const given = new URLSearchParams(bytes.toString());
  return Object.fromEntries([...new Set(given.keys())].map((name) => [name, oneOrAll(given.getAll(name))]));
}
const oneOrAll = (values: string[]): unknown => (values.length === 1 ? values[0] : values);

function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw invalid('The body is not valid JSON in UTF-8, or nests too deeply', { cause: error });
  }
}

/** Returns why PostgreSQL could not store a value as it is, or undefined. The value has a bounded depth. */
function whyUnstorable(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'holds a number that is too large';
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'holds a NUL character';
    return value.isWellFormed() ? undefined : 'holds half of a surrogate pair';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return firstReason(value);
  // It would change the prototype of whatever copies it.
  return Object.hasOwn(value, '__proto__') ? 'holds the name __proto__' : firstReason(Object.entries(value).flat());
}
function firstReason(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const reason = whyUnstorable(value);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const checkStorable = (field: string, value: unknown): void => {
  const reason = whyUnstorable(value);
  if (reason !== undefined) throw invalid(`The ${field} ${reason}`);
};

/**
 * Returns body and query of a call as its event holds them. An empty body is an empty object; a form is an object of its fields;
 * anything else is read as JSON.
 * @throws INVALID_REQUEST no JSON, too deep, or what cannot be stored as it was sent
 */
export function readCall(bytes: Buffer, type: string | null, query: Query): { body: unknown; query: Record<string, unknown> } {
  const body = bytes.length === 0 ? {} : type === FORM ? readForm(bytes) : parse(bytes);
  checkStorable('body', body);
  checkStorable('query', query);
  return { body, query: { ...query } };
}
