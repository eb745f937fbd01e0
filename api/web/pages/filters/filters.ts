import { z } from 'zod';
import { Text } from '../../../platform/fields.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import { DUE_RANGES, filtersOf, STATUSES_OF, type ViewEntity } from '../../../work/saved-views/rules.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { VIEWER, type ViewFilters } from '../../../work/saved-views/schema.js';
import { MAX_FILTER_VALUES, NONE } from '../../../work/tasks/filters.js';
import { STATUS_CHOICES, TASK_PRIORITIES, TASK_STATUSES } from '../../../work/tasks/rules.js';
import { EITHER } from './choices.js';
import { fieldParam, keyOf, readFieldValues } from './field-params.js';

/** Orders that the list of a project offers, with the direction that people mean. */
const SORTS = {
  [MANUAL_ORDER]: 'asc',
  created_at: 'desc',
  due_date: 'asc',
  priority: 'desc',
  title: 'asc',
  updated_at: 'desc',
} as const;
export type Sort = keyof typeof SORTS;

/** What a list can be grouped by. */
export const GROUPS = { status: 'Status', assigned_to: 'Assignee', priority: 'Priority', cycle_id: 'Cycle' } as const;
const GROUP_NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

export const OPEN_STATUSES = TASK_STATUSES.filter((status) => status !== 'done');

/** An empty field, and one that holds nonsense, filters nothing. */
export const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).catch(undefined);

/** Values of a filter that may be given several times; those that are nonsense filter nothing. Undefined without any. */
export const severalOf = <T extends z.ZodType>(schema: T) =>
  z
    .unknown()
    .transform((given): z.output<T>[] | undefined => {
      const values = [given].flat().slice(0, MAX_FILTER_VALUES);
      const read = values.flatMap((value) => {
        const { success, data } = schema.safeParse(value);
        return success && data !== '' ? [data] : [];
      });
      return read.length === 0 ? undefined : [...new Set(read)];
    })
    .optional();

/** Stands alone among the statuses, and cannot be left out. */
export const ALL = 'all';

/** Filters whose values can be left out instead of looked for, with what a saved view calls them. */
export const VIEW_NAMES = {
  show: 'status',
  assigned_to: 'assigned_to',
  priority: 'priority',
  stage_id: 'stage_id',
  project_id: 'project_id',
  created_by: 'created_by',
  cycle_id: 'cycle_id',
  tag: 'tags',
} as const;
export type Excludable = keyof typeof VIEW_NAMES;
export const EXCLUDABLE = Object.keys(VIEW_NAMES) as Excludable[];

type Values = string[] | undefined;
/** What a bar of filters says of a list, of a project or of a view. */
export type Filters = { [name in Excludable]?: Values } & {
  /** Names of the filters whose values are left out. */
  not?: Values;
  due?: (typeof DUE_RANGES)[number] | undefined;
  due_before?: string | undefined;
  due_after?: string | undefined;
  q?: string | undefined;
  /** Values of custom fields by their keys. */
  fields?: Record<string, string[]> | undefined;
  sort?: string | undefined;
  group?: string | undefined;
};

/**
 * The filters of a project's tasks as its form sends them, each with any of its values. `show` has statuses, or `all`; without it, all but those that are
 * done. `not` names the filters whose values are left out.
 */
export const TaskFilters = z.object({
  show: severalOf(z.enum([ALL, ...STATUS_CHOICES]))
    .transform((show) => (show?.includes(ALL) ? [ALL] : show))
    .optional(),
  assigned_to: severalOf(z.union([z.enum([VIEWER, NONE]), z.uuid()])),
  priority: severalOf(z.enum(TASK_PRIORITIES)),
  stage_id: severalOf(z.union([z.enum([NONE]), z.uuid()])),
  due: lenient(z.enum(DUE_RANGES)),
  created_by: severalOf(z.union([z.enum([VIEWER]), z.uuid()])),
  cycle_id: severalOf(z.union([z.enum([NONE]), z.uuid()])),
  tag: severalOf(Text.trim().max(50)),
  not: severalOf(z.string().refine((name) => EXCLUDABLE.some((one) => one === name) || keyOf(name) !== undefined)),
  fields: z.unknown().transform(readFieldValues).optional(),
  due_before: lenient(z.iso.date()),
  due_after: lenient(z.iso.date()),
  q: lenient(Text.trim().max(200)),
  sort: lenient(z.enum(Object.keys(SORTS) as Sort[])),
  // A list that is not grouped as its address says would be taken for one.
  group: z.preprocess(
    (value) => (value === '' ? undefined : value),
    z.enum(GROUP_NAMES, `A list of tasks is grouped by ${EITHER.format(GROUP_NAMES)}`).optional(),
  ),
});
export type TaskFilters = z.output<typeof TaskFilters>;

/** Returns the statuses that `show` means; undefined for all of them. Without any, a list of tasks has those that are open. */
function shownStatuses(show: Values, entity: ViewEntity): string[] | undefined {
  if (show === undefined) return entity === 'task' ? [...OPEN_STATUSES] : undefined;
  return show.includes(ALL) ? undefined : show.filter((status) => STATUSES_OF[entity].includes(status));
}

/** Returns whether the values of a filter are left out, not looked for. */
export const isLeftOut = ({ not = [], ...given }: Filters, name: Excludable): boolean =>
  not.includes(name) && given[name] !== undefined && given[name][0] !== ALL;

/** Returns the same filters in the form of a saved view, those that its entity has. */
export function toViewFilters(given: Filters, entity: ViewEntity = 'task'): ViewFilters {
  const { due, due_before, due_after, q, fields = {}, not = [] } = given;
  const values = EXCLUDABLE.map((name) => {
    const wanted = name === 'show' ? shownStatuses(given.show, entity) : given[name];
    return [`${isLeftOut(given, name) ? 'not_' : ''}${VIEW_NAMES[name]}`, wanted] as const;
  });
  const some = (isOut: boolean) => {
    const named = Object.entries(fields).filter(([key]) => not.includes(fieldParam(key)) === isOut);
    return named.length === 0 ? undefined : Object.fromEntries(named);
  };
  const custom = { custom_fields: some(false), not_custom_fields: some(true) };
  const filters = { ...Object.fromEntries(values), due, due_before, due_after, q, ...custom };
  const known = filtersOf(entity);
  return Object.fromEntries(
    Object.entries(filters).filter(
      ([name, value]) => value !== undefined && (!Array.isArray(value) || value.length > 0) && known.includes(name),
    ),
  );
}

/** Returns what a bar says of the filters of a view. Where a view looks for values of a filter and leaves others out, it has those it looks for. */
export function fromViewFilters(filters: ViewFilters, entity: ViewEntity): Filters {
  const { due, due_before, due_after, q, custom_fields = {}, not_custom_fields = {} } = filters;
  const given: Filters = { due, due_before: due_before?.slice(0, 10), due_after: due_after?.slice(0, 10), q };
  const not: string[] = [];
  for (const name of EXCLUDABLE) {
    const [wanted = [], out = []] = [filters[VIEW_NAMES[name]], filters[`not_${VIEW_NAMES[name]}`]];
    if (wanted.length + out.length === 0) continue;
    given[name] = wanted.length > 0 ? wanted : out;
    if (wanted.length === 0) not.push(name);
  }
  const isOpen = given.show?.length === OPEN_STATUSES.length && OPEN_STATUSES.every((one) => given.show?.includes(one));
  if (entity === 'task') given.show = isOpen && !not.includes('show') ? undefined : (given.show ?? [ALL]);
  const fields = Object.entries({ ...not_custom_fields, ...custom_fields }).filter(([, values]) => values.length > 0);
  if (fields.length > 0) given.fields = Object.fromEntries(fields.map(([key, values]) => [key, values.map(String)]));
  for (const [key] of fields) if (!Object.hasOwn(custom_fields, key) || !custom_fields[key]?.length) not.push(fieldParam(key));
  return { ...given, not: not.length > 0 ? not : undefined };
}

/** Returns the order that a list of tasks has. */
export function toSort({ sort = 'created_at' }: { sort?: Sort | undefined }): { field: string; direction: 'asc' | 'desc' }[] {
  return [{ field: sort, direction: SORTS[sort] }];
}

/** Returns the filters of a list of a project, which is its own. */
export const inProject = (projectId: string, given: Filters): Filters => ({
  ...given,
  project_id: [projectId],
  not: given.not?.filter((name) => name !== 'project_id'),
});

/** Returns what a list of a project's tasks looks up. */
export const toSource = (
  project: { project_id: string; team_id: string },
  given: Filters & { sort?: Sort | undefined },
): ViewSource => ({
  entity_type: 'task',
  team_id: project.team_id,
  filters: toViewFilters(inProject(project.project_id, given)),
  sort: toSort(given),
  group_by: given.group ?? null,
});

/** Returns the query of an address with these filters: empty, or with its question mark. */
export function toQuery({ fields = {}, ...given }: Filters, more: Record<string, string | number | undefined> = {}): string {
  const named = Object.fromEntries(Object.entries(fields).map(([key, values]) => [fieldParam(key), values]));
  const entries = Object.entries({ ...given, ...named, ...more }).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, String(one)]])),
  );
  const query = String(new URLSearchParams(entries as [string, string][]));
  return query === '' ? '' : `?${query}`;
}
