import { findInvisible } from '../../platform/validation/invisible.js';

/** Returns the name of the first invisible character in a value, such as `U+202E`. Reads lists and objects too. */
export function hiddenCharacter(value: unknown): string | undefined {
  if (typeof value === 'string') return findInvisible(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const found = hiddenCharacter(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
