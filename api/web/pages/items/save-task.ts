import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { Id } from '../../../platform/fields.js';
import { invalidFields } from '../../../platform/errors.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import { readTaskStates } from '../../../work/tasks/read/read-states.js';
import { type Task, UpdateTask } from '../../../work/tasks/schema.js';
import { staleVersion } from '../../../work/tasks/write/stale-version.js';
import type { Fields } from '../../server/read-form.js';
import type { ChangedTask } from '../../server/undo.js';
import { changeTask, checkCycle } from '../projects/change-ticked.js';
import { parseInput, readChoice, readText } from '../projects/form-fields.js';
import { loadRepeat, readRepeat } from './repeat-form.js';
import { taskTexts, type TaskTexts } from './task-texts.js';

/** Writes of one form, each onto the newest version, before its sender hears that the task changes too often. */
export const MAX_ATTEMPTS = 6;

type Typed = Record<string, string>;

/** What the forms of a task show now, with its version. */
async function readTexts(ctx: Context, me: User, taskId: string): Promise<{ version: number; texts: TaskTexts }> {
  const task = JSON.parse((await getTask(ctx, taskId)).json) as Task;
  return { version: task.version, texts: taskTexts(task, (await loadRepeat(ctx, me, task)).stored) };
}

/** A form of a task: what was typed, and the version that it showed. */
interface TaskEdit {
  taskId: string;
  /** Texts of the changed fields by name. */
  changed: Typed;
  version: number;
  /** Converts texts to the input of the operation. @throws VALIDATION_ERROR */
  toInput: (changed: Typed) => Record<string, unknown>;
}

/** Changes a task that still has the version. Undefined if it has the values already. @throws the errors of `updateTask` and of its cycle */
async function saveAt(ctx: Context, me: User, { taskId, changed, version, toInput }: TaskEdit): Promise<ChangedTask | undefined> {
  const { repeats, repeats_words: own, cycle_id, ...input } = toInput(changed);
  const text = own || repeats;
  const repeat = typeof text === 'string' ? await readRepeat(ctx, me, taskId, text.trim(), input['due_date']) : {};
  const patch = parseInput(UpdateTask, readChoice({ ...input, ...repeat }));
  if (cycle_id === undefined) return changeTask(ctx, [taskId, version], undefined, { patch, cycle: undefined });
  const state = (await readTaskStates(ctx, [taskId])).get(taskId);
  const cycle = cycle_id === '' ? null : (cycle_id as string);
  if (cycle !== null && !Id.safeParse(cycle).success)
    throw invalidFields([{ field: 'cycle_id', message: 'Choose a cycle of the list', type: 'custom' }]);
  if (cycle !== null && state)
    await checkCycle(ctx, cycle, patch.project_id ?? (await readTexts(ctx, me, taskId)).texts.project_id);
  return changeTask(ctx, [taskId, version], state, { patch, cycle });
}

/**
 * Saves a form of a task. If the task changed since the form was shown, but not in the fields of the form, its changes are applied onto the newest version.
 * Returns what takes them back; undefined if nothing got another value.
 * @throws RESOURCE_CONFLICT one of the fields changed too, or the task changes all the time | the errors of `updateTask` and of its cycle
 */
export async function saveTask(ctx: Context, me: User, edit: TaskEdit, form: Fields): Promise<ChangedTask | undefined> {
  let { version, changed } = edit;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await saveAt(ctx, me, { ...edit, changed, version });
    } catch (thrown) {
      const error = toDomainError(thrown);
      if (!('changed_since' in error.extra) || attempt === MAX_ATTEMPTS) throw thrown;
    }
    const now = await readTexts(ctx, me, edit.taskId);
    const left = Object.entries(changed).filter(([name, typed]) => now.texts[name as keyof TaskTexts] !== typed);
    const met = left.some(([name]) => now.texts[name as keyof TaskTexts] !== readText(form, `was-${name}`));
    if (met) throw await staleVersion(ctx, { type: 'task', id: edit.taskId, expected: edit.version, version: now.version });
    if (left.length === 0) return undefined;
    changed = Object.fromEntries(left);
    version = now.version;
  }
}
