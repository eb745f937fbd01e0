import type { FieldOption } from '../../../db/models/custom-field.js';
import { FIELD_TYPES, type FieldType } from '../../../db/models/rules.js';

export { FIELD_TYPES, type FieldType };
export const FIELD_ENTITIES = ['task', 'project'] as const;
export type FieldEntity = (typeof FIELD_ENTITIES)[number];

/** Fields of one team, archived ones too. */
export const MAX_FIELDS_PER_TEAM = 100;
export const MAX_OPTIONS = 100;
/** Longest text or address, code points. */
export const MAX_VALUE_LENGTH = 2_000;
export const KEY = /^[a-z][a-z0-9_]{0,62}$/;
const MAX_KEY_LENGTH = 63;

/** What precedes the key of a custom field where names of fields of the record stand too: in views, and in what a change says of itself. */
export const CUSTOM_FIELD_PREFIX = 'custom_field:';

/** Returns what a view or a change calls a custom field. */
export const toCustomKey = (key: string): string => `${CUSTOM_FIELD_PREFIX}${key}`;

/** Returns the key of a custom field that a view or a change names; undefined for a field of the record. */
export const parseCustomKey = (name: string): string | undefined =>
  name.startsWith(CUSTOM_FIELD_PREFIX) ? name.slice(CUSTOM_FIELD_PREFIX.length) : undefined;

/** What a check of a value reads of its field. */
export interface FieldRule {
  field_type: FieldType;
  options: FieldOption[];
}

/** A value of a request, before it is known which field it is for. */
export type RawValue = string | number | boolean | string[] | null;
export type Value = Exclude<RawValue, null>;

/** Column that keeps the values of a type. */
export type ValueColumn = 'value_text' | 'value_number' | 'value_date' | 'value_boolean' | 'value_list';

/** Returns a key made of a name, such as `story_points`. */
export function keyFromName(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const key = /^[a-z]/.test(words) ? words : `field_${words}`;
  return key.slice(0, MAX_KEY_LENGTH).replace(/_+$/, '');
}

/** Returns the key, or the first of `key_2`, `key_3` … that is not taken. */
export function freeKey(key: string, taken: ReadonlySet<string>): string {
  if (!taken.has(key)) return key;
  for (let nth = 2; ; nth += 1) {
    const suffix = `_${nth}`;
    const next = `${key.slice(0, MAX_KEY_LENGTH - suffix.length)}${suffix}`;
    if (!taken.has(next)) return next;
  }
}
