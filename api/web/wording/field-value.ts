import type { CustomFieldRecord, CustomFieldValue } from '../../work/custom-fields/schema.js';

/** What a value is read by. */
type Field = Pick<CustomFieldRecord, 'field_type' | 'options'>;

/** What the words of a value depend on: names of users, and how a day is written. */
interface About {
  names: Readonly<Record<string, string>>;
  day: (date: string) => string;
}

export const YES_OR_NO: [value: string, name: string][] = [
  ['true', 'Yes'],
  ['false', 'No'],
];

/** Whether a value says little without the name of its field. */
export const needsFieldName = ({ field_type }: Pick<Field, 'field_type'>): boolean =>
  ['boolean', 'number', 'date'].includes(field_type);

/** Returns the words of one value of a custom field, of several choices those of one. */
export function nameFieldValue({ field_type, options }: Field, value: string, { names, day }: About): string {
  const label = options.find((option) => option.value === value)?.label;
  if (label !== undefined) return label;
  switch (field_type) {
    case 'boolean':
      return YES_OR_NO.find(([one]) => one === value)?.[1].toLowerCase() ?? value;
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(value) ? day(value) : value;
    case 'user':
      return (Object.hasOwn(names, value) ? names[value] : undefined) ?? 'a former member';
    default:
      return value;
  }
}

/** A value as lists, cards and panels show it: its words, each with the color of its choice. */
export const sayFieldValue = (field: Field, value: Exclude<CustomFieldValue['value'], null>, about: About) =>
  [value].flat().map((one) => ({
    text: typeof one === 'boolean' ? (one ? 'Yes' : 'No') : nameFieldValue(field, String(one), about),
    color: field.options.find((option) => option.value === one)?.color ?? null,
  }));
