import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import {
  filtersOf,
  GROUP_FIELDS,
  hasCustomFields,
  parseCustomKey,
  STATUSES_OF,
  type ViewEntity,
} from '../../../work/saved-views/rules.js';
import { type SavedViewRecord, UpdateSavedView, VIEWER, ViewFilters } from '../../../work/saved-views/schema.js';
import { SORT_FIELDS } from '../../../work/saved-views/sort-fields.js';
import { NONE } from '../../../work/tasks/filters.js';
import { TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import type { Fields } from '../../server/read-form.js';
import { DUE_CHOICES } from '../../wording/due-names.js';
import { nameSortField } from '../../wording/sort-names.js';
import { parseInput, Ticked } from '../projects/form-fields.js';
import { chosenIn, listChoices, typedFilters, ViewForm } from './view-form.js';

/** Fields of a record that a row of a list can show beside title and status, in the order of the form. */
const ROW_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['priority', 'due_date', 'assigned_to', 'tags', 'estimate', 'estimated_hours', 'created_at', 'updated_at'],
  project: ['start_date', 'end_date', 'created_at', 'updated_at'],
  work_item: ['type', 'created_at', 'updated_at'],
};
/** Those that a row shows for a view that names none. */
const USUAL_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['priority', 'due_date', 'assigned_to', 'tags', 'estimate'],
  project: [],
  work_item: ['type'],
};

/** What a form changes of a view without saving it. */
export const ShownForm = ViewForm.omit({ entity_type: true, team_id: true, name: true }).extend({
  columns: Ticked.pipe(UpdateSavedView.shape.columns.unwrap()),
});
/** The form of a view of its own, to be saved. */
export const CopyForm = ShownForm.extend({ name: ViewForm.shape.name });
/** The form of a saved view, with the time of the change that it showed. */
export const EditForm = CopyForm.extend({ updated_at: z.string().max(40) });
type Typed = z.output<typeof ShownForm>;

/** What the form of a view can change. */
type Changes = Pick<SavedViewRecord, 'is_shared' | 'filters' | 'sort' | 'group_by' | 'layout' | 'columns'>;

/** Returns the columns of a view: those that it names, after the usual ones if it names no field of the record. */
export function columnsOf({ entity_type, columns }: Pick<SavedViewRecord, 'entity_type' | 'columns'>): string[] {
  const hasOwn = columns.some((column) => parseCustomKey(column) === undefined);
  return hasOwn ? columns : [...USUAL_FIELDS[entity_type], ...columns];
}

const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, ' ');

/** Returns the filters under the names of the form, and which of them leave their values out. Where a view does both, the form shows what it looks for. */
function splitFilters(filters: ViewFilters): { named: ViewFilters; not: string[] } {
  const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  const leftOut = Object.entries(filters).filter(([name, value]) => name.startsWith('not_') && isSet(value));
  const wanted = Object.entries(filters).filter(([name, value]) => !name.startsWith('not_') && isSet(value));
  const taken = new Set(wanted.map(([name]) => name));
  const own = leftOut.map(([name, value]) => [name.slice('not_'.length), value] as const).filter(([name]) => !taken.has(name));
  return { named: Object.fromEntries([...wanted, ...own]), not: own.map(([name]) => name) };
}

/** Returns the fields of the form that shows a view. */
export function toFields(view: SavedViewRecord): Fields {
  const { named, not } = splitFilters(ViewFilters.safeParse(view.filters).data ?? {});
  const { q, tags = [], due, due_after, due_before, custom_fields = {}, ...chosen } = named;
  const lines = Object.entries(custom_fields).flatMap(([key, values]) =>
    values.map((value) => `${key} = ${oneLine(String(value))}`),
  );
  const [order] = view.sort;
  return {
    name: view.name,
    ...(view.is_shared && { is_shared: 'yes' }),
    ...chosen,
    not,
    q: oneLine(q ?? ''),
    tags: oneLine(tags.join(', ')),
    due: due ?? '',
    due_after: due_after?.slice(0, 10) ?? '',
    due_before: due_before?.slice(0, 10) ?? '',
    custom_fields: lines.join('\n'),
    sort: order?.field ?? '',
    direction: order?.direction ?? 'asc',
    group_by: view.group_by ?? '',
    layout: view.layout,
    columns: columnsOf(view),
  };
}

/** Compares what two forms say of a filter. The order of boxes means nothing. */
const isSame = (one: unknown, other: unknown): boolean => {
  const text = (value: unknown) =>
    JSON.stringify(Array.isArray(value) ? value.map(String).toSorted((a, b) => (a < b ? -1 : 1)) : (value ?? null));
  return text(one) === text(other);
};

/**
 * What is as the form showed it stays as it is stored: a form cannot write each value, such as a tag with a comma.
 * @throws VALIDATION_ERROR
 */
function mergeFilters(view: SavedViewRecord, typed: ViewFilters, shown: ViewFilters): Record<string, unknown> {
  const names = filtersOf(view.entity_type) as readonly (keyof ViewFilters)[];
  const changed = names.filter((name) => !isSame(typed[name], shown[name]));
  const kept = Object.entries(view.filters).filter(([name]) => !changed.includes(name as keyof ViewFilters));
  const given = changed.filter((name) => typed[name] !== undefined).map((name) => [name, typed[name]] as const);
  return { ...Object.fromEntries(kept), ...parseInput(ViewFilters, Object.fromEntries(given)) };
}

/** Returns what a form changes of a view. Orders after the first one, which the form does not show, stay. @throws VALIDATION_ERROR */
export function mergeForm(view: SavedViewRecord, form: Typed): Changes {
  const shown = ShownForm.safeParse(toFields(view)).data;
  const { sort, direction, group_by = view.group_by, layout, is_shared, columns } = form;
  const isOrdered = sort === shown?.sort && (sort === undefined || direction === shown?.direction);
  const others = view.sort.slice(1).filter(({ field }) => field !== sort);
  return {
    is_shared,
    layout,
    group_by,
    filters: mergeFilters(view, typedFilters(form), shown ? typedFilters(shown) : {}),
    sort: isOrdered ? view.sort : sort === undefined ? [] : [{ field: sort, direction }, ...others],
    columns: shown && isSame(columns, shown.columns) ? view.columns : columns,
  };
}

type Choice = [value: string, name: string];

/** Adds to the choices what is chosen and not among them, so that a form that is saved keeps it. */
const withChosen = (choices: readonly Choice[], chosen: readonly string[], name: (value: string) => string): Choice[] => {
  const known = new Set(choices.map(([value]) => value));
  return [...choices, ...chosen.filter((value) => !known.has(value)).map((value): Choice => [value, name(value)])];
};

/** Returns what the form of a view offers. `given`: its fields as they are shown. */
export async function listEditChoices(ctx: Context, me: User, view: SavedViewRecord, given: Fields) {
  const { entity_type, team_id } = view;
  const [{ people, projects, cycles, stages }, fields] = await Promise.all([
    listChoices(ctx, me),
    team_id !== null && hasCustomFields(entity_type) ? listFields(ctx, { team_id, entity_type }) : [],
  ]);
  const custom = fields.filter(({ is_archived }) => !is_archived).map(({ key, name }): Choice => [`custom_field:${key}`, name]);
  const named = (names: readonly string[]): Choice[] => names.map((name) => [name, nameSortField(name)]);
  const chosen = chosenIn(given);
  const columns = Ticked.safeParse(given['columns']).data ?? [];
  const [sort, group] = ['sort', 'group_by'].map((name) =>
    [given[name]].filter((one) => typeof one === 'string' && one !== ''),
  ) as [string[], string[]];
  return {
    chosen: { ...chosen, columns },
    filters: filtersOf(entity_type),
    statuses: { [entity_type]: STATUSES_OF[entity_type] },
    priorities: TASK_PRIORITIES,
    dues: DUE_CHOICES,
    people: withChosen([[VIEWER, 'The viewer'], [NONE, 'Nobody'], ...people], chosen.assigned_to, () => 'a former member'),
    creators: withChosen([[VIEWER, 'The viewer'], ...people], chosen.created_by, () => 'a former member'),
    cycles: withChosen([[NONE, 'No cycle'], ...cycles], chosen.cycle_id, () => 'another cycle'),
    stages: withChosen(stages.length > 0 ? [[NONE, 'No stage'], ...stages] : [], chosen.stage_id, () => 'a former stage'),
    projects: withChosen(projects, chosen.project_id, () => 'another project'),
    columns: withChosen([...named(ROW_FIELDS[entity_type]), ...custom], columns, nameSortField),
    sortFields: withChosen(
      [...named(SORT_FIELDS[entity_type].filter((field) => field !== 'position')), ...custom],
      sort,
      nameSortField,
    ),
    groupFields: withChosen([...named(GROUP_FIELDS[entity_type]), ...custom], group, nameSortField),
    laterSort: view.sort.slice(1).map(({ field }) => nameSortField(field)),
  };
}
