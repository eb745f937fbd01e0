import { FIELD_TYPE_RULES, InvalidValue } from './field-types.js';
import type { FieldRule, FieldType, RawValue, Value } from './rules.js';

/** Returns the value as it is stored, or why it does not fit the field. */
export const checkValue = ({ field_type, options }: FieldRule, value: Value): Value | InvalidValue =>
  FIELD_TYPE_RULES[field_type].check(value, options);

/**
 * Returns the value that a text stands for. Text that is no value of the type is returned as it is: the check says what is wrong with it.
 * `parseList` reads a list, which forms and files write in different ways.
 */
export function parseValue(type: FieldType, text: string, parseList: (text: string) => RawValue): RawValue {
  const { column, parse } = FIELD_TYPE_RULES[type];
  return column === 'value_list' ? parseList(text) : parse(text);
}

/**
 * Returns the value that a filter `custom_field[key]=text` asks for; undefined if no value of the type can equal it. For a multi_select it
 * is one item of the list.
 */
export function filterValue(type: FieldType, text: string): Exclude<Value, string[]> | undefined {
  const { column, parse, check } = FIELD_TYPE_RULES[type];
  if (column === 'value_text' || column === 'value_list') {
    // PostgreSQL could not take it as a parameter.
    return text.includes('\0') || !text.isWellFormed() ? undefined : text;
  }
  const value = check(parse(text), []);
  return value instanceof InvalidValue || Array.isArray(value) ? undefined : value;
}
