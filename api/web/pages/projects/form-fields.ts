import { z } from 'zod';
import { invalidFields } from '../../../platform/errors.js';
import { MAX_POINTS } from '../../../work/tasks/rules.js';
import type { Fields } from '../../server/read-form.js';
import { FORM_MESSAGES } from '../../wording/form-messages.js';
import { Choice, fieldsOf } from './stage-choices.js';

/** Versions are numbers in text. */
export const Version = z.coerce.number().pipe(z.int().min(1).max(2_147_483_647));

/** Browsers send every line break of a text as CRLF. */
export const Typed = z.string().transform((text) => text.replaceAll('\r\n', '\n'));

/** Reads tags as people type them: between commas, with or without `#`. */
export const splitTags = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim().replace(/^#/, ''))
    .filter((tag) => tag !== '');

/** Reads an estimate as people type it. @throws VALIDATION_ERROR */
export function readPoints(text: unknown): number {
  const points = typeof text === 'string' && /^\d{1,4}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (points <= MAX_POINTS) return points;
  const message = `The estimate is a whole number of points, at most ${MAX_POINTS}`;
  throw invalidFields([{ field: 'estimate', message, type: 'custom' }]);
}

/** Check boxes and selects: one is sent as a string, several as a list, none as nothing. */
export const Ticked = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()));

/** Returns the text of a field; undefined for a field that was not sent, or was sent twice. */
export const readText = (form: Fields, name: string): string | undefined =>
  typeof form[name] === 'string' ? form[name].replaceAll('\r\n', '\n') : undefined;

/**
 * Returns the fields that the user changed: those whose text differs from what the form showed in `was-<name>`. A field without that counts as
 * changed.
 */
export function changedFields(form: Fields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const typed = readText(form, name);
      return typed === undefined || typed === readText(form, `was-${name}`) ? [] : [[name, typed]];
    }),
  );
}

/** Returns typed fields with the status as the operations take it: of a choice that says why nobody completes the task, both; of a stage its id. */
export function readChoice(typed: Record<string, unknown>): Record<string, unknown> {
  const { status, ...others } = typed;
  const { data: choice } = Choice.safeParse(status);
  return choice === undefined ? typed : { ...others, ...fieldsOf(choice) };
}

const NAMES: Readonly<Record<string, string>> = {
  assigned_to: 'assignee',
  completed_at: 'time of completion',
  cycle_id: 'cycle',
  duplicate_of: 'original',
  lead_id: 'lead',
  project_id: 'project',
  recurrence: 'repeat',
  repeats: 'repeat',
  repeats_words: 'repeat',
  stage_id: 'stage',
};

/** Names a field of a task or project in a sentence. */
export const nameField = (field: string): string => NAMES[field] ?? field.replaceAll('_', ' ');

/** Names fields as the start of a sentence: `Status, assignee, and due date`. */
export function listFields(fields: readonly string[]): string {
  const text = new Intl.ListFormat('en').format([...new Set(fields.map(nameField))]);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Parses the input of an operation that a form put together. @throws VALIDATION_ERROR with the names of the form's fields */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value, FORM_MESSAGES);
  if (parsed.success) return parsed.data;
  throw invalidFields(parsed.error.issues.map(({ path, message, code }) => ({ field: String(path[0]), message, type: code })));
}
