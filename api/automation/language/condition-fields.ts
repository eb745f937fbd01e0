import { TASK_PRIORITIES, TASK_RESOLUTIONS, TASK_STATUSES } from '../../work/tasks/rules.js';
import { PROJECT_STATUSES } from '../../work/projects/rules.js';
import { TRIGGERS } from './triggers.js';

/** What a field holds; `any` where the declaration of the trigger does not say. */
export type FieldKind = 'text' | 'number' | 'flag' | 'list' | 'any';

/** A field that a row can compare: its path in a condition. */
export interface ConditionField {
  path: string;
  kind: FieldKind;
  /** Its name, where the team gave it one. */
  name?: string;
  /** All values that it can have, where they are known. */
  values?: readonly string[];
  /** Whether it can have others too. */
  isOpen?: true;
  /** Words of the values that have other ones than themselves. */
  texts?: Readonly<Record<string, string>>;
}

/** Path of the key of the custom field that an event is about. */
export const FIELD_KEY = 'event.field.key';
/** Paths of its value, before and after. */
export const FIELD_VALUES: readonly string[] = ['event.changes.value.from', 'event.changes.value.to'];
/** The same in words. */
export const FIELD_TEXTS: readonly string[] = ['event.changes.text.from', 'event.changes.text.to'];

/** What a team names itself: its stages, and the fields of its tasks by the paths of their values. */
export interface OwnWords {
  stages: readonly string[];
  fields: readonly ConditionField[];
}
const NO_WORDS: OwnWords = { stages: [], fields: [] };

/** Path of the values of the custom fields of a task. */
export const CUSTOM_FIELDS = 'event.task.custom_fields';
const STAGE_PATHS = ['event.task.stage', 'event.changes.stage.from', 'event.changes.stage.to'];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  'event.task.status': TASK_STATUSES,
  'event.task.priority': TASK_PRIORITIES,
  'event.task.resolution': TASK_RESOLUTIONS,
  'project.status': PROJECT_STATUSES,
};
/** The same of what a change of a task says: from which value, to which. */
const VALUES_OF_CHANGES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ['from', 'to'].flatMap((end) => [
    [`event.changes.status.${end}`, TASK_STATUSES],
    [`event.changes.priority.${end}`, TASK_PRIORITIES],
    [`event.changes.resolution.${end}`, TASK_RESOLUTIONS],
  ]),
);

const toTexts = (names: readonly string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, name]));

/** Levels of fields below the event. */
const MAX_STEPS = 3;
/** Records beside the event. */
const BESIDE: readonly ConditionField[] = ['project.name', 'project.status', 'actor.name', 'actor.email'].map((path) => ({
  path,
  kind: 'text',
}));

function kindOf(value: unknown): FieldKind {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'flag' : 'any';
}

function* listLeaves(value: unknown, path: string, left: number): Generator<ConditionField> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || left === 0) yield { path, kind: kindOf(value) };
  else for (const [name, each] of Object.entries(value)) yield* listLeaves(each, `${path}.${name}`, left - 1);
}

const keyOf = ({ path }: ConditionField): string => path.slice(CUSTOM_FIELDS.length + 1);
const endOf = (path: string): string => (path.endsWith('to') ? 'new value' : 'old value');

/** Returns the path of the field that changed, or of its value, with what the team has; undefined for another path. `key`: of the only field that is meant. */
function describeChangedField(
  at: ConditionField,
  fields: readonly ConditionField[],
  key: string | undefined,
): ConditionField | undefined {
  if (at.path === FIELD_KEY && fields.length > 0) {
    const keys = fields.map((field) => [keyOf(field), (field.name ?? field.path).replace('task › ', '')] as const);
    return { ...at, name: 'field', values: keys.map(([each]) => each), texts: Object.fromEntries(keys) };
  }
  const meant = key === undefined ? fields : fields.filter((field) => keyOf(field) === key);
  if (FIELD_VALUES.includes(at.path)) {
    const [only] = key === undefined ? [] : meant;
    return { ...(only ?? at), path: at.path, name: endOf(at.path) };
  }
  if (!FIELD_TEXTS.includes(at.path)) return undefined;
  const values = [...new Set(meant.flatMap(({ values = [], texts = {} }) => values.map((value) => texts[value] ?? value)))];
  return { ...at, kind: 'text', name: `${endOf(at.path)} in words`, values, isOpen: true };
}

/**
 * Lists the fields of a trigger's events, as their declaration shows them, those of the team included, and of what is beside the event.
 * @param key of the custom field that a condition names: a value that changed is one of its values
 */
export function listConditionFields(
  triggerType: string,
  { stages, fields }: OwnWords = NO_WORDS,
  key?: string,
): ConditionField[] {
  const sample = TRIGGERS.find(({ key }) => key === triggerType)?.sample_payload ?? {};
  const own = 'task' in sample ? fields : [];
  // The custom fields of the sample are none of the team.
  const leaves = [...listLeaves(sample, 'event', MAX_STEPS)].filter(({ path }) => !path.startsWith(`${CUSTOM_FIELDS}.`));
  return [...leaves, ...own, ...BESIDE].map((field) => {
    if (triggerType === 'task.field_changed') {
      const named = describeChangedField(field, fields, key);
      if (named) return named;
    }
    if (STAGE_PATHS.includes(field.path))
      return { ...field, kind: 'text', ...(stages.length > 0 && { values: stages, texts: toTexts(stages) }) };
    const values = VALUES[field.path] ?? (triggerType.startsWith('task.') ? VALUES_OF_CHANGES[field.path] : undefined);
    return values ? { ...field, values } : field;
  });
}
