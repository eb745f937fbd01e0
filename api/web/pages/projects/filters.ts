import { z } from 'zod';
import { Text } from '../../../platform/fields.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import { DUE_RANGES } from '../../../work/saved-views/rules.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { VIEWER, type ViewFilters } from '../../../work/saved-views/schema.js';
import { MAX_FILTER_VALUES, NONE } from '../../../work/tasks/filters.js';
import { STATUS_CHOICES, TASK_PRIORITIES, TASK_STATUSES } from '../../../work/tasks/rules.js';

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

const OPEN_STATUSES = TASK_STATUSES.filter((status) => status !== 'done');

/** An empty field, and one that holds nonsense, filters nothing. */
const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).catch(undefined);

/** Values of a filter that may be given several times; those that are nonsense filter nothing. Undefined without any. */
const severalOf = <T extends z.ZodType>(schema: T) =>
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

/** Filters whose values can be left out instead of looked for. */
export const EXCLUDABLE = ['show', 'assigned_to', 'priority', 'stage_id', 'created_by', 'cycle_id', 'tag'] as const;
export type Excludable = (typeof EXCLUDABLE)[number];

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
  not: severalOf(z.enum(EXCLUDABLE)),
  due_before: lenient(z.iso.date()),
  due_after: lenient(z.iso.date()),
  q: lenient(Text.trim().max(200)),
  sort: lenient(z.enum(Object.keys(SORTS) as Sort[])),
  // A list that is not grouped as its address says would be taken for one.
  group: z.preprocess(
    (value) => (value === '' ? undefined : value),
    z
      .enum(
        GROUP_NAMES,
        `A list of tasks is grouped by ${new Intl.ListFormat('en', { type: 'disjunction' }).format(GROUP_NAMES)}`,
      )
      .optional(),
  ),
});
export type TaskFilters = z.output<typeof TaskFilters>;

/** Returns the statuses that `show` means; undefined for all of them. */
const shownStatuses = (show: TaskFilters['show']): string[] | undefined =>
  show === undefined ? [...OPEN_STATUSES] : show.includes(ALL) ? undefined : show;

/** Returns whether the values of a filter are left out, not looked for. */
export const isLeftOut = ({ not = [], ...given }: TaskFilters, name: Excludable): boolean =>
  not.includes(name) && given[name] !== undefined && given[name][0] !== ALL;

/** What a saved view calls a filter. */
const VIEW_NAMES: Readonly<Record<Excludable, string>> = {
  show: 'status',
  assigned_to: 'assigned_to',
  priority: 'priority',
  stage_id: 'stage_id',
  created_by: 'created_by',
  cycle_id: 'cycle_id',
  tag: 'tags',
};

/** Returns the same filters in the form of a saved view. */
export function toViewFilters(projectId: string, given: TaskFilters): ViewFilters {
  const { due, due_before, due_after, q } = given;
  const values = EXCLUDABLE.map((name) => {
    const wanted = name === 'show' ? shownStatuses(given.show) : given[name];
    return [`${isLeftOut(given, name) ? 'not_' : ''}${VIEW_NAMES[name]}`, wanted] as const;
  });
  const filters = { project_id: [projectId], ...Object.fromEntries(values), due, due_before, due_after, q };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

/** Returns the order that a list of tasks has. */
export function toSort({ sort = 'created_at' }: TaskFilters): { field: string; direction: 'asc' | 'desc' }[] {
  return [{ field: sort, direction: SORTS[sort] }];
}

/** Returns what a list of a project's tasks looks up. */
export const toSource = (project: { project_id: string; team_id: string }, given: TaskFilters): ViewSource => ({
  entity_type: 'task',
  team_id: project.team_id,
  filters: toViewFilters(project.project_id, given),
  sort: toSort(given),
  group_by: given.group ?? null,
});

/** Returns the query of an address with these filters: empty, or with its question mark. */
export function toQuery(given: TaskFilters, more: Record<string, string | number | undefined> = {}): string {
  const entries = Object.entries({ ...given, ...more }).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, String(one)]])),
  );
  const query = String(new URLSearchParams(entries as [string, string][]));
  return query === '' ? '' : `?${query}`;
}
