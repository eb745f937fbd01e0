import { z } from 'zod';
import { MAX_FILTER_VALUES } from '../tasks/filters.js';

/** Filters of one list, whose values together are at most those of one other filter. */
const MAX_FILTERS = 10;

/**
 * Query parameters `custom_field[key]=value`, of which a key may be repeated for any of several values. Not a record: no key may get lost on the way, or the list would be wider than
 * asked for.
 */
export const FieldFilters = z
  .unknown()
  .transform((given, check): [key: string, values: string[]][] => {
    const fault = (message: string, path: string[] = []) => {
      check.issues.push({ code: 'custom', input: given, message, path });
      return [];
    };
    if (given === undefined) return [];
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return fault('names no field; send custom_field[key]=value');
    }
    const filters = Object.entries(given).map(([key, value]): [string, unknown[]] => [key, [value].flat()]);
    const wrong = filters.find(([, values]) => values.some((value) => typeof value !== 'string'));
    if (wrong) return fault('must be a string', [wrong[0]]);
    if (filters.length > MAX_FILTERS) return fault(`must have at most ${MAX_FILTERS} keys`);
    const count = filters.reduce((sum, [, values]) => sum + values.length, 0);
    return count > MAX_FILTER_VALUES ? fault(`must have at most ${MAX_FILTER_VALUES} values`) : (filters as [string, string[]][]);
  })
  .optional()
  .meta({
    override: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      description: `Only tasks whose custom field has the value, as in custom_field[severity]=high; at most ${MAX_FILTERS} keys, all must match. Repeat one for any of several values, ${MAX_FILTER_VALUES} in all. A multi_select matches if its list holds the value. An unknown key matches nothing`,
      example: { severity: 'high' },
    },
    param: { style: 'deepObject', explode: true },
  });
