import { findInvisible } from '../../platform/validation/invisible.js';

function find(value: unknown, where: 'keys' | 'all'): string | undefined {
  if (typeof value === 'string') return where === 'all' ? findInvisible(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const found = findInvisible(key) ?? find(item, where);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the name of the first invisible character in a value, such as `U+202E`. Reads lists and objects too, with their keys. */
export const hiddenCharacter = (value: unknown): string | undefined => find(value, 'all');

/** Returns the name of the first invisible character in a key, however deep. */
export const hiddenKey = (value: unknown): string | undefined => find(value, 'keys');
