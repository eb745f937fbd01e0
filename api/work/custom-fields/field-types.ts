import type { FieldOption } from '../../../db/models/custom-field.js';
import { normaliseDate } from '../../platform/dates.js';
import type { FieldType, RawValue, Value, ValueColumn } from './rules.js';

/** Why a value does not fit its field: a predicate, such as `must be a number`. */
export class InvalidValue {
  constructor(readonly reason: string) {}
}

/** What the service knows of one type of field. */
interface FieldTypeRule {
  /** Column that keeps the values. */
  column: ValueColumn;
  /** Name on pages. */
  label: string;
  /** Control of the form. `type` and `inputmode` are those of `<input>`. */
  input: { tag: 'textarea' | 'select' | 'checkboxes' } | { tag: 'input'; type: string; inputmode?: string };
  /** True: the field lists its choices. */
  hasOptions?: true;
  /** Returns the value as it is stored, or why it does not fit. */
  check: (value: RawValue, options: FieldOption[]) => Value | InvalidValue;
  /** Returns the value that a text stands for; the text itself if it is no value of the type. */
  parse: (text: string) => string | number | boolean;
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

function checkDate(value: RawValue): Value | InvalidValue {
  const date = typeof value === 'string' ? normaliseDate(value) : null;
  return date?.slice(0, 10) ?? new InvalidValue('must be an ISO 8601 date, such as 2026-11-20');
}

function checkChoice(choice: RawValue, options: FieldOption[]): Value | InvalidValue {
  const found = options.find(({ value }) => value === choice);
  return found?.value ?? new InvalidValue(`must be one of ${listChoices(options)}`);
}

function checkList(list: RawValue, options: FieldOption[]): Value | InvalidValue {
  if (!Array.isArray(list)) return new InvalidValue('must be an array of strings');
  if (list.length === 0) return new InvalidValue('must have at least 1 item; null clears it');
  const isKnown = list.every((item) => options.some(({ value }) => value === item));
  return isKnown ? [...new Set(list)] : new InvalidValue(`must only hold some of ${listChoices(options)}`);
}

const keepText = (text: string): string => text;
const parseNumber = (text: string) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text);
const parseBoolean = (text: string) => (text === 'true' || text === 'false' ? text === 'true' : text);

/** The single table of field types. A new type is a name in `db/models/rules.ts`, its row here, and a migration of the SQL checks. */
export const FIELD_TYPE_RULES: Readonly<Record<FieldType, FieldTypeRule>> = {
  text: { column: 'value_text', label: 'Text', input: { tag: 'textarea' }, check: checkText, parse: keepText },
  number: {
    column: 'value_number',
    label: 'Number',
    input: { tag: 'input', type: 'text', inputmode: 'decimal' },
    check: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : new InvalidValue('must be a number')),
    parse: parseNumber,
  },
  date: { column: 'value_date', label: 'Date', input: { tag: 'input', type: 'date' }, check: checkDate, parse: keepText },
  boolean: {
    column: 'value_boolean',
    label: 'Yes or no',
    input: { tag: 'select' },
    check: (value) => (typeof value === 'boolean' ? value : new InvalidValue('must be true or false')),
    parse: parseBoolean,
  },
  select: {
    column: 'value_text',
    label: 'One choice',
    input: { tag: 'select' },
    hasOptions: true,
    check: checkChoice,
    parse: keepText,
  },
  multi_select: {
    column: 'value_list',
    label: 'Several choices',
    input: { tag: 'checkboxes' },
    hasOptions: true,
    check: checkList,
    parse: keepText,
  },
  // The form of the id is not checked here: an id of no member is refused whatever its form.
  user: { column: 'value_text', label: 'Member', input: { tag: 'select' }, check: checkText, parse: keepText },
  url: {
    column: 'value_text',
    label: 'Web address',
    input: { tag: 'input', type: 'url' },
    check: (value) =>
      typeof value === 'string' && isWebAddress(value) ? value : new InvalidValue('must be an http or https address'),
    parse: keepText,
  },
};
