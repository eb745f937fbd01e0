/** Levels of objects and lists; the service takes 32. */
const MAX_DEPTH = 32;

const refuse = (why: string): never => {
  throw new TypeError(why);
};

/** Returns the number of prototypes above an object: 1 for `{}`, 2 for a list, and 2 or more for objects of a class. */
function countPrototypes(object: object): number {
  let count = 0;
  for (let above: unknown = Object.getPrototypeOf(object); above !== null; above = Object.getPrototypeOf(above)) count += 1;
  return count;
}

/** Reads each member once, so that it cannot answer otherwise later. */
function readMembers(object: object, except?: string): [string, unknown][] {
  const keys = Reflect.ownKeys(object).filter((key) => key !== except);
  return keys.map((key) => {
    const member = Object.getOwnPropertyDescriptor(object, key);
    if (typeof key !== 'string' || !member?.enumerable || !('value' in member))
      return refuse(`${String(key)} is computed or hidden`);
    return [key, member.value as unknown];
  });
}

/** Reads the elements of a list without holes and other members. */
function readElements(list: readonly unknown[]): unknown[] {
  const { length } = list;
  const members = readMembers(list, 'length');
  if (members.length !== length || members.some(([key], index) => key !== String(index)))
    return refuse('a list has holes, or other members than its elements');
  return members.map(([, element]) => element);
}

function toJsonString(text: string): string {
  return /\p{Surrogate}/u.test(text) ? refuse('a text is no Unicode') : JSON.stringify(text);
}

/**
 * Returns the canonical JSON text of a value (RFC 8785).
 * @throws TypeError for all but plain objects, lists without holes, texts, finite numbers, true, false and null, and beyond 32 levels
 */
export function canonicalJson(value: unknown, depth = 1): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'string') return toJsonString(value);
  if (typeof value !== 'object') return refuse(`a ${typeof value} is no JSON`);
  if (depth > MAX_DEPTH) return refuse(`it nests deeper than ${MAX_DEPTH} levels`);
  const isList = Array.isArray(value);
  if (countPrototypes(value) > (isList ? 2 : 1)) return refuse('an object is of a class');
  const write = (each: unknown) => canonicalJson(each, depth + 1);
  if (isList) return `[${readElements(value).map(write).join()}]`;
  const members = readMembers(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, each]) => `${toJsonString(key)}:${write(each)}`).join()}}`;
}
