import { z } from 'zod';
import type { Context } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import { checkValue, parseValue } from '../../../work/custom-fields/check-value.js';
import { InvalidValue } from '../../../work/custom-fields/field-types.js';
import { findTaskFields, type TaskField } from '../../../work/custom-fields/find-task-fields.js';
import { changeValues } from '../../../work/custom-fields/values/set-values.js';
import type { TaskState } from '../../../work/tasks/read/read-states.js';
import type { Fields } from '../../server/read-form.js';
import type { FieldChanges, FieldValue } from '../../server/undo.js';
import { keyOf } from '../filters/field-params.js';
import { formText } from '../items/field-form.js';

/** Longest choice that a form sends. */
const MAX_CHOICE = 5_000;
/** Fields that a form sets, of up to a hundred tasks, each of another team. */
const MAX_CHANGED = 20;

/** What a form sends for a value of a custom field: its text, empty for none, and the text that stood there, where one task has been looked at. */
const Choice = z.tuple([z.string(), z.string().optional()]);

/** Returns what a form sends for a value. */
export const toChoice = (to: string, from?: string): string => JSON.stringify(from === undefined ? [to] : [to, from]);

/** A value that a form gives to the field with a key, in whatever team the task is. */
interface Wanted {
  key: string;
  to: string;
  from: string | undefined;
}

/** Returns the text of the value of a choice; undefined if it is none. */
export function readChosen(text: unknown): Omit<Wanted, 'key'> | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHOICE) return undefined;
  try {
    const [to, from] = Choice.parse(JSON.parse(text));
    return { to, from };
  } catch {
    return undefined;
  }
}

/** Returns the values of custom fields that a form gives to its tasks; an empty one leaves its field. @throws INVALID_REQUEST */
export function readFieldChanges(form: Fields): Wanted[] {
  return Object.entries(form).flatMap(([name, text]) => {
    const key = keyOf(name);
    if (key === undefined || text === '') return [];
    const chosen = readChosen(text);
    if (!chosen) throw invalid('Choose one of the values of the field');
    return [{ key, ...chosen }];
  });
}

/** A field of a task with the value that it gets. */
interface ValueChange {
  field: TaskField;
  value: FieldValue;
  from: string | undefined;
}

export type Planned = readonly ValueChange[];

/** @throws INVALID_REQUEST the field takes no such value */
function toValue(field: TaskField, { to, from }: Wanted): ValueChange {
  if (to === '') {
    if (field.required) throw invalid(`${field.name} is required`);
    return { field, value: null, from };
  }
  const value = checkValue(field, parseValue(field.field_type, to, (lines) => lines.split('\n')) ?? to);
  if (value instanceof InvalidValue) throw invalid(`${field.name} ${value.reason}`);
  return { field, value, from };
}

/** Returns what a form makes of the fields of each task, by those of its team. @throws INVALID_REQUEST too many fields */
export async function planFields(ctx: Context, wanted: readonly Wanted[], states: Iterable<TaskState>) {
  const teams = [...states].map(({ team_id }) => team_id);
  const keys = wanted.map(({ key }) => key);
  if (keys.length > MAX_CHANGED) throw invalid(`Change at most ${MAX_CHANGED} fields at once`);
  const fields = keys.length === 0 ? [] : await findTaskFields(ctx, teams, MAX_CHANGED, keys);
  /** @throws INVALID_REQUEST the team has no such field, or it takes no such value */
  return ({ team_id: of }: TaskState): ValueChange[] =>
    wanted.map((one) => {
      const field = fields.find(({ team_id, key }) => team_id === of && key === one.key);
      if (!field) throw invalid(`Its team has no field ${one.key}`);
      return toValue(field, one);
    });
}

/**
 * Sets fields of a task, each if it has the value that was shown, where the form says which. Returns what takes it back, of those that got another value.
 * To be called in a transaction.
 * @throws RESOURCE_CONFLICT a field has another value by now | the errors of `setValues`
 */
export async function setFields(ctx: Context, taskId: string, changes: Planned): Promise<FieldChanges> {
  const items = changes.map(({ field: { field_id }, value }) => ({
    field_id,
    entity_type: 'task' as const,
    entity_id: taskId,
    value,
  }));
  const written = await changeValues(ctx, items);
  return written.flatMap(({ record: { field_id, value }, before }, at): FieldChanges => {
    const { field, from } = changes[at] as ValueChange;
    if (from !== undefined && formText(before) !== from) throw conflict(`${field.name} has another value by now`);
    return formText(before) === formText(value) ? [] : [[field_id, value, before]];
  });
}
