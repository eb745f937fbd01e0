import { z } from 'zod';

/** Filters of one list. */
const MAX_FILTERS = 10;

/**
 * Query parameters `custom_field[key]=value`, as pairs. Not a record: no key may get lost on the way, or the list would be wider than
 * asked for.
 */
export const FieldFilters = z
  .unknown()
  .transform((given, check): [key: string, value: string][] => {
    const fault = (message: string, path: string[] = []) => {
      check.issues.push({ code: 'custom', input: given, message, path });
      return [];
    };
    if (given === undefined) return [];
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return fault('names no field; send custom_field[key]=value');
    }
    const pairs: [string, string][] = [];
    for (const [key, value] of Object.entries(given)) {
      if (typeof value !== 'string') return fault('is given more than once; send it once', [key]);
      pairs.push([key, value]);
    }
    return pairs.length > MAX_FILTERS ? fault(`must have at most ${MAX_FILTERS} keys`) : pairs;
  })
  .optional()
  .meta({
    override: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: `Only tasks whose custom field has the value, as in custom_field[severity]=high; at most ${MAX_FILTERS}, all must match. A multi_select matches if its list holds the value. An unknown key matches nothing`,
      example: { severity: 'high' },
    },
    param: { style: 'deepObject', explode: true },
  });
