import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import type { User } from '../../../identity/auth/schema.js';
import { formatNth, ruleInWords } from '../../../work/tasks/recurrence/describe-rule.js';
import { readRecurrence, REPEAT_HINT } from '../../../work/tasks/recurrence/read-repeat.js';
import type { Recurrence } from '../../../work/tasks/recurrence/rules.js';
import { readSeries, type SeriesState } from '../../../work/tasks/recurrence/series/read-series.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import type { Task } from '../../../work/tasks/schema.js';
import { createFormatter } from '../../wording/formatter.js';

/** Choice of the field that leads to the field of free words. */
const OWN_WORDS = 'words';

/** The field that says how often a task repeats; the values are words, which the same grammar reads as quick add. */
export interface RepeatField {
  choices: { value: string; label: string }[];
  /** The value that is stored; empty for a task that does not repeat. */
  stored: string;
  /** The rule that is stored, in full. */
  rule: string;
  /** What follows this task; null if it does not repeat. */
  next: SeriesState | null;
}

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });

const COMPARED = ['rule', 'mode', 'until', 'count'] as const;
const isSame = (text: string, stored: Recurrence, today: string): boolean => {
  const read = readRecurrence(text, today, stored.timezone);
  return 'recurrence' in read && COMPARED.every((name) => read.recurrence[name] === stored[name]);
};

/** Returns the choices for a task, by its due day, and what is stored. */
export async function loadRepeat(
  ctx: Context,
  me: User,
  task: Pick<Task, 'task_id' | 'due_date' | 'recurrence'>,
): Promise<RepeatField> {
  const { today } = createFormatter(me);
  const day = new Date(task.due_date?.slice(0, 10) ?? today);
  const usual = [
    'Every day',
    'Every weekday',
    `Every week on ${WEEKDAY.format(day)}`,
    day.getUTCDate() > 28 ? 'Every month on the last day' : `Every month on the ${formatNth(day.getUTCDate())}`,
  ].map((text) => ({ value: text, label: text }));
  const last = { value: OWN_WORDS, label: 'In other words…' };
  const { recurrence } = task;
  if (recurrence === null) return { choices: [...usual, last], stored: '', rule: '', next: null };
  const next = await readSeries(ctx, task.task_id);
  const known = usual.find(({ value }) => isSame(value, recurrence, today));
  const text = known?.value ?? ruleInWords(recurrence);
  return {
    choices: [...(known ? [] : [{ value: text, label: text }]), ...usual, last],
    stored: text,
    rule: ruleInWords(recurrence),
    next,
  };
}

/**
 * Returns the fields of a change that words about the repeat of a task mean. A task without a due date is due on the first day.
 * @throws VALIDATION_ERROR at the field `repeats` | the errors of `getTask`
 */
export async function readRepeat(
  ctx: Context,
  me: User,
  taskId: string,
  text: string,
  due: unknown,
): Promise<{ recurrence: Recurrence | null; due_date?: string }> {
  if (text === '') return { recurrence: null };
  const stored = JSON.parse((await getTask(ctx, taskId)).json) as Task;
  const { today, timeZone } = createFormatter(me);
  const read =
    text === OWN_WORDS
      ? { problem: `Say how often it repeats: ${REPEAT_HINT}` }
      : readRecurrence(text, today, stored.recurrence?.timezone ?? timeZone);
  if ('problem' in read) throw invalidFields([{ field: 'repeats', message: read.problem, type: 'custom' }]);
  const isDue = due === undefined ? stored.due_date !== null : due !== null;
  return { recurrence: read.recurrence, ...(!isDue && { due_date: read.due }) };
}
