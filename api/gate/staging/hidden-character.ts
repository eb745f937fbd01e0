import { findInvisible } from '../../platform/validation/invisible.js';

/** Returns the name of the first invisible character in a value, such as `U+202E`. Reads lists and objects too, with their keys. */
export function hiddenCharacter(value: unknown): string | undefined {
  if (typeof value === 'string') return findInvisible(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const found = findInvisible(key) ?? hiddenCharacter(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
