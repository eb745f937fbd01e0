import { listMembers } from '../../../identity/teams/list-members.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { plusDays, readDate } from '../../../platform/written-days.js';
import { findTaskFields, type TaskField } from '../../../work/custom-fields/find-task-fields.js';
import type { FieldType } from '../../../work/custom-fields/rules.js';
import { findValues } from '../../../work/custom-fields/values/find-values.js';
import type { Task } from '../../../work/tasks/schema.js';
import { YES_OR_NO } from '../../wording/field-value.js';
import { createFormatter } from '../../wording/formatter.js';
import { fieldParam } from '../filters/field-params.js';
import { formText } from '../items/field-form.js';
import { toChoice } from './field-changes.js';
import type { TaskAct, TaskAction } from './task-action.js';

/** Types whose values a chooser offers; the others are edited on the page of the task. */
const CHOSEN: readonly FieldType[] = ['select', 'boolean', 'user', 'date', 'number'];
export const isChosen = (type: FieldType): boolean => CHOSEN.includes(type);

/** What can be typed in the chooser of a field. */
const HINTS: Partial<Record<FieldType, string>> = { date: 'A day, such as next friday', number: 'A number' };

/** A value that a chooser offers: its text as a form has it, and its words. */
type Offer = [value: string, label: string, words?: string];

/** Values that a field offers for what is typed in its chooser. */
async function offersOf(
  ctx: Context,
  me: User,
  { field_type: type, options, team_id }: TaskField,
  typed: string,
): Promise<Offer[]> {
  const { today, day } = createFormatter(me);
  switch (type) {
    case 'boolean':
      return YES_OR_NO;
    case 'user': {
      const members = (await listMembers(ctx, team_id)).filter(({ user_id }) => user_id !== me.user_id);
      return [
        [me.user_id, 'me', me.display_name],
        ...members.map(({ user_id, display_name, username }): Offer => [user_id, display_name, username]),
      ];
    }
    case 'date': {
      const read = readDate(typed.toLowerCase().split(/\s+/).filter(Boolean), today);
      const date = typeof read === 'object' ? read.date : null;
      const days: Offer[] = [
        [today, `today, ${day(today)}`],
        [plusDays(today, 1), `tomorrow, ${day(plusDays(today, 1))}`],
        [plusDays(today, 7), `in a week, ${day(plusDays(today, 7))}`],
      ];
      return date && !days.some(([known]) => known === date) ? [[date, day(date), typed], ...days] : days;
    }
    case 'number':
      return typed !== '' && Number.isFinite(Number(typed)) ? [[String(Number(typed)), String(Number(typed)), typed]] : [];
    default:
      return options.map(({ value, label }): Offer => [value, label]);
  }
}

/** A field of the task's team with the text of its value. */
interface Valued {
  field: TaskField;
  text: string;
}

/** Values of one field as changes of the task, and none. `isOne`: a single task is looked at, whose value a change must still find. */
async function valueActions(
  ctx: Context,
  me: User,
  { field, text }: Valued,
  typed: string,
  isOne: boolean,
): Promise<TaskAction[]> {
  const act = fieldParam(field.key);
  const common = { act, icon: 'dot' } as const;
  const offers = await offersOf(ctx, me, field, typed);
  const from = isOne ? text : undefined;
  return [
    ...offers.map(
      ([value, label, words = '']): TaskAction => ({
        ...common,
        label: `${field.name}: ${label}`,
        words: `${field.key} ${words}`,
        change: `${act}:${toChoice(value, from)}`,
        isCurrent: isOne && value === text,
        isTyped: words !== '' && words === typed,
      }),
    ),
    ...(field.required
      ? []
      : [
          {
            ...common,
            label: `${field.name}: none`,
            words: 'remove clear',
            change: `${act}:${toChoice('', from)}`,
            isCurrent: isOne && text === '',
          },
        ]),
  ];
}

/** Returns what of a query is typed after the name of a field; undefined if the query does not begin with it. */
function typedAfter({ name }: TaskField, q: string): string | undefined {
  const words = q.replace(/^set /i, '');
  return words.toLowerCase().startsWith(name.toLowerCase()) ? words.slice(name.length).replace(/^:/, '').trim() : undefined;
}

/** What a palette offers of the fields of a task's team. */
interface FieldActions {
  actions: TaskAction[];
  /** The chooser of one field: its name, and what can be typed in it. */
  does?: string;
  hint?: string | undefined;
}

/**
 * Returns the choosers of the fields of a task's team, and their values: those of the field whose chooser is open, else those that a query may name. The values
 * of a date, a number or a member are changes only of a query that begins with the name of the field.
 */
export async function fieldActions(
  ctx: Context,
  me: User,
  task: Task,
  { q, act, count }: { q: string; act: TaskAct | undefined; count: number },
): Promise<FieldActions> {
  const isOne = count === 1;
  const all = (await findTaskFields(ctx, [task.team_id])).filter(({ field_type }) => isChosen(field_type));
  const found = await findValues(ctx, isOne ? all.map(({ field_id }) => field_id) : [], [task.task_id]);
  const valued = all.map(
    (field): Valued => ({
      field,
      text: formText(found.find(({ field_id }) => field_id === field.field_id)?.value ?? null),
    }),
  );
  const [only] = act === 'field' && all.length === 1 ? valued : valued.filter(({ field }) => fieldParam(field.key) === act);
  if (only) {
    const typed = typedAfter(only.field, q) ?? q;
    const { name, field_type } = only.field;
    return { actions: await valueActions(ctx, me, only, typed, isOne), does: `Set ${name}`, hint: HINTS[field_type] };
  }
  const choosers = all.map(
    ({ name, key }): TaskAction => ({
      act: 'field',
      label: `Set ${name}…`,
      icon: 'tools',
      words: `${key} custom field`,
      opens: fieldParam(key),
    }),
  );
  const named = q === '' ? [] : valued.filter(({ field }) => field.options.length > 0 || typedAfter(field, q) !== undefined);
  const values = await Promise.all(named.map((one) => valueActions(ctx, me, one, typedAfter(one.field, q) ?? '', isOne)));
  return { actions: [...choosers, ...values.flat()] };
}
