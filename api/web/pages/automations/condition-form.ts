import { isDeepStrictEqual } from 'node:util';
import {
  COMPARISONS,
  type Comparison,
  type ConditionRow,
  type ConditionRows,
  keyOfCondition,
  keyOfRows,
  readConditionRows,
  takesWhole,
  writeConditionRows,
} from '../../../automation/language/condition-rows.js';
import { type ConditionField, listConditionFields, type OwnWords } from '../../../automation/language/condition-fields.js';
import type { Fields } from '../../server/read-form.js';

/** A condition in a form: its text, and the rows that say the same, those that are not filled in included. Null: no rows can say it. */
export interface ConditionForm {
  text: string;
  rows: ConditionRows | null;
}

const MAX_ROWS = 30;
const EMPTY_ROW: ConditionRow = { field: '', comparison: 'is', value: '' };

const fieldsOfText = (text: string, triggerType: string, own: OwnWords | undefined): ConditionField[] =>
  listConditionFields(triggerType, own, keyOfCondition(text));
const fieldsOfRows = (rows: ConditionRows, triggerType: string, own: OwnWords | undefined): ConditionField[] =>
  listConditionFields(triggerType, own, keyOfRows(rows));

export const conditionForm = (text: string, triggerType: string, own?: OwnWords): ConditionForm => ({
  text,
  rows: readConditionRows(text, fieldsOfText(text, triggerType, own)),
});

const isFilled = ({ field }: ConditionRow): boolean => field !== '';

function readRows(given: Fields): ConditionRows | null {
  const text = (name: string): string => (typeof given[name] === 'string' ? (given[name] as string) : '');
  const rows: ConditionRow[] = [];
  for (let index = 0; index < MAX_ROWS && `c${index}.field` in given; index += 1) {
    const comparison = text(`c${index}.comparison`);
    rows.push({
      field: text(`c${index}.field`),
      comparison: comparison in COMPARISONS ? (comparison as Comparison) : 'is',
      value: text(`c${index}.value`),
    });
  }
  return rows.length === 0 ? null : { join: given['c.join'] === 'any' ? 'any' : 'all', rows };
}

function listChoices({ field, comparison }: ConditionRow, fields: readonly ConditionField[]): readonly string[] {
  const found = fields.find(({ path }) => path === field);
  return found?.values && !found.isOpen && takesWhole(comparison, found.kind) ? found.values : [];
}

/** A row whose field has just been chosen has the first of its few values, as its list of choices shows; one that the text has keeps its own. */
function withChoice(row: ConditionRow, fields: readonly ConditionField[], text: string): ConditionRow {
  const choices = listChoices(row, fields);
  const isKept = choices.includes(row.value) || (text.includes(row.field) && text.includes(JSON.stringify(row.value)));
  return isKept ? row : { ...row, value: choices[0] ?? row.value };
}

/**
 * Reads a condition as a form sends it: its text, its rows, and in `c.shown` the text that the page showed beside the rows. A changed text wins
 * over the rows; changed rows write the text, unless one of them is wrong.
 */
export function readConditionForm(given: Fields, text: string, triggerType: string, own?: OwnWords): ConditionForm {
  const sent = readRows(given);
  const shown = typeof given['c.shown'] === 'string' ? given['c.shown'].replaceAll('\r\n', '\n') : undefined;
  if (!sent || text !== shown) return conditionForm(text, triggerType, own);
  const fields = fieldsOfRows(sent, triggerType, own);
  const rows = sent.rows.map((row) => withChoice(row, fields, text));
  const filled = { ...sent, rows: rows.filter(isFilled) };
  const before = readConditionRows(text, fieldsOfText(text, triggerType, own));
  const isSame = isDeepStrictEqual(before?.rows, filled.rows) && (filled.rows.length < 2 || before?.join === filled.join);
  const written = writeConditionRows(filled, fields);
  return { text: isSame || written.errors.size > 0 ? text : written.text, rows: { ...sent, rows } };
}

/** Returns what is wrong with the rows of a condition, by the names of their fields in the form. */
export function conditionErrors({ rows }: ConditionForm, triggerType: string, own?: OwnWords): Record<string, string> {
  if (!rows) return {};
  const { errors } = writeConditionRows(rows, fieldsOfRows(rows, triggerType, own));
  return Object.fromEntries([...errors].map(([index, message]) => [`c${index}.value`, message]));
}

/** Returns the form with one more empty row. */
export const addConditionRow = (form: ConditionForm): ConditionForm =>
  form.rows ? { ...form, rows: { ...form.rows, rows: [...form.rows.rows, EMPTY_ROW].slice(0, MAX_ROWS) } } : form;

const labelOf = (path: string): string =>
  path
    .replace(/^event\./, '')
    .replaceAll('.', ' › ')
    .replaceAll('_', ' ');
const toOption = ({ path, name }: ConditionField) => ({ path, label: name ?? labelOf(path) });

const listValues = ({ values = [], texts = {} }: Partial<ConditionField> = {}) =>
  values.map((value) => ({ value, text: texts[value] ?? value.replaceAll('_', ' ') }));

/** Returns a condition in words, such as `task › status is Done and task › title contains "crane"`; null where rows cannot say it. */
export function sayCondition(text: string, triggerType: string, own?: OwnWords): string | null {
  const known = fieldsOfText(text, triggerType, own);
  const { join, rows } = readConditionRows(text, known) ?? { rows: [] };
  if (rows.length === 0) return null;
  const said = rows.map((row) => {
    const field = known.find(({ path }) => path === row.field);
    const named = listValues(field).find(({ value }) => value === row.value)?.text;
    const value = named ?? (row.value === '' ? '' : JSON.stringify(row.value));
    return `${field?.name ?? labelOf(row.field)} ${COMPARISONS[row.comparison]} ${value}`.trim();
  });
  return said.join(join === 'any' ? ' or ' : ' and ');
}

/** Returns the rows as the page shows them, at least one; null where the condition stays a text. */
export function showConditionRows(form: ConditionForm, triggerType: string, own?: OwnWords) {
  if (!form.rows) return null;
  const { join, rows } = form.rows;
  const known = fieldsOfRows(form.rows, triggerType, own);
  const errors = conditionErrors(form, triggerType, own);
  const missing = rows.filter((row) => isFilled(row) && !known.some(({ path }) => path === row.field));
  return {
    join,
    fields: [...known, ...missing.map(({ field: path }) => ({ path, kind: 'any' as const }))].map(toOption),
    comparisons: Object.entries(COMPARISONS),
    rows: (rows.length === 0 ? [EMPTY_ROW] : rows).slice(0, MAX_ROWS).map((row, index) => {
      return {
        ...row,
        index,
        error: errors[`c${index}.value`],
        choices: listValues(known.find(({ path }) => path === row.field)),
        isChoice: listChoices(row, known).includes(row.value),
      };
    }),
  };
}
