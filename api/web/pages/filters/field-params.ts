import { z } from 'zod';
import { Text } from '../../../platform/fields.js';
import { KEY } from '../../../work/custom-fields/rules.js';
import { MAX_FILTER_VALUES } from '../../../work/tasks/filters.js';

/** Begins the name of the parameter of a custom field. */
const PREFIX = 'cf_';
const Value = Text.max(2_000);

/** The parameter of a custom field: what a filter, a bar and a chooser call it. */
export type FieldParam = `${typeof PREFIX}${string}`;

/** Returns the parameter of a custom field. */
export const fieldParam = (key: string): FieldParam => `${PREFIX}${key}`;

/** Returns the key of the custom field of a parameter; undefined for another parameter. */
export const keyOf = (name: string): string | undefined => {
  const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '';
  return KEY.test(key) ? key : undefined;
};

export const FieldParam = z.custom<FieldParam>((name) => typeof name === 'string' && keyOf(name) !== undefined);

/** Puts the parameters of custom fields into one, `fields`, which the schema reads. */
export const withFields = <T extends z.ZodType>(schema: T) =>
  z.preprocess((query) => (typeof query === 'object' && query !== null ? { ...query, fields: query } : query), schema);

/** Returns the values of custom fields by their keys: at most as many as one filter has; undefined without any. */
export function readFieldValues(given: unknown): Record<string, string[]> | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  let room = MAX_FILTER_VALUES;
  const read = Object.entries(given).flatMap(([name, value]) => {
    const key = keyOf(name);
    const texts = [value].flat().flatMap((one) => Value.safeParse(one).data || []);
    const values = [...new Set(texts)].slice(0, room);
    if (key === undefined || values.length === 0) return [];
    room -= values.length;
    return [[key, values] as const];
  });
  return read.length === 0 ? undefined : Object.fromEntries(read);
}
