import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import { FIELD_TYPE_RULES } from '../../../work/custom-fields/field-types.js';
import { nameFieldValue, YES_OR_NO } from '../../wording/field-value.js';
import { type Choice, EITHER, type Pick, withChosen } from './choices.js';
import { fieldParam } from './field-params.js';
import type { Filters } from './filters.js';

/** Custom fields that a bar offers; those with values are offered too. */
const MAX_FIELDS = 20;

/** What the words of a custom field depend on. */
export interface FieldNames {
  names: Readonly<Record<string, string>>;
  /** Fields of the teams of the list, of which several may have one key. */
  fields: readonly CustomFieldRecord[];
  day: (date: string) => string;
}

/** Returns the words of a value of a custom field. */
const nameValueOf = (own: readonly CustomFieldRecord[], value: string, about: FieldNames): string =>
  own[0]
    ? nameFieldValue({ field_type: own[0].field_type, options: own.flatMap(({ options }) => options) }, value, about)
    : value;

const nameField = (key: string, own: readonly CustomFieldRecord[]): string => own[0]?.name ?? key.replaceAll('_', ' ');

/** Says which values a custom field has, or has not: `Severity is high or low`. */
export function describeField(key: string, values: readonly string[], isNot: boolean, about: FieldNames): string {
  const own = about.fields.filter((field) => field.key === key);
  const words = EITHER.format(values.map((value) => nameValueOf(own, value, about)));
  return `${nameField(key, own)} is ${isNot ? 'not ' : ''}${words}`;
}

/** Returns the choices of a field; undefined for one whose values are typed. */
function choicesOf(own: readonly CustomFieldRecord[], members: readonly { user_id: string; display_name: string }[]) {
  const type = own[0]?.field_type;
  if (type === 'boolean') return YES_OR_NO;
  if (type === 'user') return members.map(({ user_id, display_name }): Choice => [user_id, display_name]);
  if (type === undefined || !FIELD_TYPE_RULES[type].hasOptions) return undefined;
  return [...new Map(own.flatMap(({ options }) => options.map(({ value, label }): Choice => [value, label])))];
}

/** Returns the filters by custom fields: of the first fields, and of each that has values. */
export function listFieldPicks(
  { fields: given = {}, not = [] }: Filters,
  about: FieldNames,
  members: readonly { user_id: string; display_name: string }[],
): Pick[] {
  const open = about.fields.filter(({ is_archived }) => !is_archived).map(({ key }) => key);
  const keys = new Set([...[...new Set(open)].slice(0, MAX_FIELDS), ...Object.keys(given)]);
  return [...keys].map((key): Pick => {
    const own = about.fields.filter((field) => field.key === key);
    const chosen = given[key] ?? [];
    const nameOf = (value: string) => nameValueOf(own, value, about);
    const choices = choicesOf(own, members);
    return {
      name: fieldParam(key),
      label: nameField(key, own),
      free: 'Any',
      choices: choices && withChosen(choices, chosen, nameOf),
      ...(own[0]?.field_type === 'date' && { type: 'date' }),
      chosen,
      isNot: not.includes(fieldParam(key)),
      said: chosen.length > 0 ? EITHER.format(chosen.map(nameOf)) : undefined,
      isDisplay: false,
    };
  });
}
