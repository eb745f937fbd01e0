import { z } from 'zod';
import { Text } from '../../../platform/fields.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { VIEWER, type ViewFilters } from '../../../work/saved-views/schema.js';
import { TASK_PRIORITIES, TASK_STATUSES } from '../../../work/tasks/rules.js';

/** Orders that the list of a project offers, with the direction that people mean. */
const SORTS = {
  [MANUAL_ORDER]: 'asc',
  created_at: 'desc',
  due_date: 'asc',
  priority: 'desc',
  title: 'asc',
  updated_at: 'desc',
} as const;
type Sort = keyof typeof SORTS;
const SORT_NAMES: Readonly<Record<Sort, string>> = {
  [MANUAL_ORDER]: 'Manual order',
  created_at: 'Newest first',
  due_date: 'Due date',
  priority: 'Priority',
  updated_at: 'Last change',
  title: 'Title',
};

/** Returns the orders as a form offers them, the page's own first, with an empty value. */
export const sortChoices = (own: Sort): [value: string, name: string][] => [
  ['', SORT_NAMES[own]],
  ...Object.entries(SORT_NAMES).filter(([field]) => field !== own),
];

const OPEN_STATUSES = TASK_STATUSES.filter((status) => status !== 'done');

/** An empty field, and one that holds nonsense, filters nothing. */
const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).catch(undefined);

/** The filters of a project's tasks as its form sends them. `show` is a status, or `all`; without it, all but those that are done. */
export const TaskFilters = z.object({
  show: lenient(z.enum(['all', ...TASK_STATUSES])),
  assigned_to: lenient(z.union([z.literal(VIEWER), z.uuid()])),
  priority: lenient(z.enum(TASK_PRIORITIES)),
  tag: lenient(Text.trim().max(50)),
  due_before: lenient(z.iso.date()),
  due_after: lenient(z.iso.date()),
  q: lenient(Text.trim().max(200)),
  sort: lenient(z.enum(Object.keys(SORTS) as Sort[])),
});
export type TaskFilters = z.output<typeof TaskFilters>;

/** Returns the statuses that `show` means; undefined for all of them. */
const shownStatuses = (show: TaskFilters['show']): string[] | undefined =>
  show === undefined ? [...OPEN_STATUSES] : show === 'all' ? undefined : [show];

/** Returns the same filters in the form of a saved view. */
export function toViewFilters(projectId: string, given: TaskFilters): ViewFilters {
  const { show, assigned_to, priority, tag, due_before, due_after, q } = given;
  const filters: ViewFilters = {
    project_id: [projectId],
    status: shownStatuses(show),
    assigned_to: assigned_to === undefined ? undefined : [assigned_to],
    priority: priority === undefined ? undefined : [priority],
    tags: tag === undefined ? undefined : [tag],
    due_before,
    due_after,
    q,
  };
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
  group_by: null,
});

/** Returns whether the filters leave tasks out. */
export const isFiltered = (given: TaskFilters): boolean => toQuery({ ...given, sort: undefined }) !== '';

/** Returns the query of an address with these filters: empty, or with its question mark. */
export function toQuery(given: TaskFilters, more: Record<string, string | number | undefined> = {}): string {
  const entries = Object.entries({ ...given, ...more }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const query = String(new URLSearchParams(entries as [string, string][]));
  return query === '' ? '' : `?${query}`;
}
