import type { FieldOption } from '../../../db/models/custom-field.js';
import { normaliseDate } from '../../platform/dates.js';
import type { FieldRule, FieldType, RawValue, Value } from './rules.js';

/** Why a value does not fit its field: a predicate, such as `must be a number`. */
export class InvalidValue {
  constructor(readonly reason: string) {}
}

const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text) && new URL(text).hostname !== '';

/** Choices that a message lists. */
const MAX_LISTED = 20;
const listChoices = (options: FieldOption[]): string => {
  const values = options.slice(0, MAX_LISTED).map(({ value }) => value);
  return `${values.join(', ')}${options.length > MAX_LISTED ? ' …' : ''}`;
};

function checkText(text: RawValue): Value | InvalidValue {
  if (typeof text !== 'string') return new InvalidValue('must be a string');
  return text === '' ? new InvalidValue('must not be empty; null clears it') : text;
}

function checkList(list: RawValue, options: FieldOption[]): Value | InvalidValue {
  if (!Array.isArray(list)) return new InvalidValue('must be an array of strings');
  if (list.length === 0) return new InvalidValue('must have at least 1 item; null clears it');
  const isKnown = list.every((item) => options.some(({ value }) => value === item));
  return isKnown ? [...new Set(list)] : new InvalidValue(`must only hold some of ${listChoices(options)}`);
}

/**
 * Returns the value as it is stored, or why it does not fit the field. The form of a user's id is not checked here: an id of no member is
 * refused whatever its form.
 */
export function checkValue({ field_type, options }: FieldRule, value: Value): Value | InvalidValue {
  switch (field_type) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : new InvalidValue('must be a number');
    case 'boolean':
      return typeof value === 'boolean' ? value : new InvalidValue('must be true or false');
    case 'date': {
      const date = typeof value === 'string' ? normaliseDate(value) : null;
      return date?.slice(0, 10) ?? new InvalidValue('must be an ISO 8601 date, such as 2026-11-20');
    }
    case 'select':
      return options.some((option) => option.value === value)
        ? value
        : new InvalidValue(`must be one of ${listChoices(options)}`);
    case 'multi_select':
      return checkList(value, options);
    case 'url':
      return typeof value === 'string' && isWebAddress(value) ? value : new InvalidValue('must be an http or https address');
    case 'text':
    case 'user':
      return checkText(value);
  }
}

/**
 * Returns the value that a filter `custom_field[key]=text` asks for; undefined if no value of the type can equal it. For a multi_select it
 * is one item of the list.
 */
export function filterValue(type: FieldType, text: string): string | number | boolean | undefined {
  switch (type) {
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'date':
      return normaliseDate(text)?.slice(0, 10);
    default:
      // PostgreSQL could not take it as a parameter.
      return text.includes('\0') || !text.isWellFormed() ? undefined : text;
  }
}
