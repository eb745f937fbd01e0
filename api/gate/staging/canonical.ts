import { createHash } from 'node:crypto';

function toJsonString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('A lone surrogate has no canonical form');
  return JSON.stringify(text);
}

/** Throws for a list with a hole, whose text would be another list. */
function checkDense(list: readonly unknown[]): void {
  for (let i = 0; i < list.length; i += 1)
    if (!Object.hasOwn(list, i)) throw new TypeError('A list with a hole has no canonical form');
}

/** Throws unless the object has the text of its members only: a Date or a Map would be `{}`, and a getter may answer otherwise later. */
function checkPlain(object: object): void {
  const prototype = Object.getPrototypeOf(object) as object | null;
  // Of Object.prototype, whichever realm it is of, the prototype is null.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new TypeError('An object of a class has no canonical form');
  for (const member of Object.values(Object.getOwnPropertyDescriptors(object)))
    if ('get' in member) throw new TypeError('A computed member has no canonical form');
}

/**
 * Returns the canonical JSON text of a value (RFC 8785): no blanks, keys sorted by UTF-16 code units, strings and numbers as ECMAScript writes
 * them. A key whose value is undefined is absent.
 * @throws TypeError for what JSON cannot express: NaN, infinities, functions, lone surrogates, lists with holes, objects that are not plain
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'string') return toJsonString(value);
  if (Array.isArray(value)) {
    checkDense(value);
    return `[${value.map(canonicalJson).join(',')}]`;
  }
  if (typeof value !== 'object') throw new TypeError(`${typeof value} has no canonical form`);
  checkPlain(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${toJsonString(key)}:${canonicalJson(item)}`).join(',')}}`;
}

/** Returns the SHA-256 of a canonical text, 32 bytes. `prefix` separates it from the hashes of other kinds of texts. */
export const computeHash = (prefix: string, canonical: string): Buffer =>
  createHash('sha256').update(prefix).update(canonical, 'utf8').digest();

/** Returns the hash as the API shows it: `sha256:` and 64 hexadecimal digits. */
export const hashText = (hash: Buffer): string => `sha256:${hash.toString('hex')}`;
