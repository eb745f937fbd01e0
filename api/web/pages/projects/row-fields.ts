import type { Context } from '../../../platform/context.js';
import { findTaskFields, type TaskField } from '../../../work/custom-fields/find-task-fields.js';
import type { FieldType } from '../../../work/custom-fields/rules.js';
import type { CustomFieldValue } from '../../../work/custom-fields/schema.js';
import { findValues } from '../../../work/custom-fields/values/find-values.js';
import { fieldParam } from '../filters/field-params.js';
import { YES_OR_NO } from '../../wording/field-value.js';
import { isChosen } from './field-actions.js';
import { toChoice } from './field-changes.js';

/** Fields of each task that a list shows unless a view names others: the first ones, in the order of the team. */
const SHOWN = 2;
/** Fields that a view shows of those that it names; further ones are facts of the row. */
const MAX_SHOWN = 4;
/** Fields of a team that are read for a list, and set in its bar. */
const MAX_FIELDS = 20;

/** Types that a row has no room for. */
const LONG: readonly FieldType[] = ['text', 'url'];

/** A field on a row, with the value of its task. */
interface Pill {
  /** What the chooser is opened by. */
  act: string;
  field: TaskField;
  value: CustomFieldValue['value'];
  /** Its chooser offers values; without one it is edited on the page of the task. */
  isChosen: boolean;
}

/** Returns the fields of the bar below a list, those of one key as one, each with its choices. */
function listBarFields(fields: readonly TaskField[], shown: ReadonlySet<string>) {
  const set = fields.filter(({ field_type }) => field_type === 'select' || field_type === 'boolean');
  return [...new Set(set.map(({ key }) => key))].map((key) => {
    const own = set.filter((field) => field.key === key);
    const choices = own.flatMap(({ field_type, options }) =>
      field_type === 'boolean' ? YES_OR_NO : options.map(({ value, label }): [string, string] => [value, label]),
    );
    return {
      param: fieldParam(key),
      name: own[0]?.name,
      choices: [...new Map(choices)].map(([value, label]) => [toChoice(value), label]),
      none: own.every(({ required }) => required) ? undefined : toChoice(''),
      isShown: shown.has(key),
    };
  });
}

type Placed = { task_id: string; team_id: string };

/**
 * Loads the custom fields that rows and cards of tasks show, with their values. `named`: the keys that a view names; without it the first
 * ones of each team.
 */
export async function loadRowFields(ctx: Context, tasks: readonly Placed[], named?: readonly string[]) {
  const fields = await findTaskFields(
    ctx,
    tasks.map(({ team_id }) => team_id),
    MAX_FIELDS,
  );
  const wanted = named && new Set(named);
  const short = fields.filter(({ field_type, key }) => !LONG.includes(field_type) && (wanted?.has(key) ?? true));
  const isAmongFirst = (field: TaskField): boolean =>
    short.filter(({ team_id }) => team_id === field.team_id).indexOf(field) < (wanted ? MAX_SHOWN : SHOWN);
  const shown = short.filter(isAmongFirst);
  const found = await findValues(
    ctx,
    shown.map(({ field_id }) => field_id),
    tasks.map(({ task_id }) => task_id),
  );
  const values = new Map(found.map(({ field_id, entity_id, value }) => [`${field_id} ${entity_id}`, value]));
  const pillsOf = ({ task_id, team_id }: Placed): Pill[] =>
    shown
      .filter((field) => field.team_id === team_id)
      .map((field) => ({
        act: fieldParam(field.key),
        field,
        value: values.get(`${field.field_id} ${task_id}`) ?? null,
        isChosen: isChosen(field.field_type),
      }));
  const keys = new Set(shown.map(({ key }) => key));
  return {
    pills: shown.length === 0 ? {} : Object.fromEntries(tasks.map((task) => [task.task_id, pillsOf(task)])),
    pillKeys: keys,
    barFields: listBarFields(fields, keys),
  };
}
