import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { Text } from '../../../platform/fields.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import { DUE_RANGES } from '../../../work/saved-views/rules.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { UNASSIGNED, VIEWER, type ViewFilters } from '../../../work/saved-views/schema.js';
import { STATUS_CHOICES, TASK_PRIORITIES, TASK_STATUSES } from '../../../work/tasks/rules.js';
import { DUE_CHOICES, DUE_NAMES } from '../../wording/due-names.js';
import { createFormatter } from '../../wording/formatter.js';

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
const sortChoices = (own: Sort): [value: string, name: string][] => [
  ['', SORT_NAMES[own]],
  ...Object.entries(SORT_NAMES).filter(([field]) => field !== own),
];

/** What a list can be grouped by. */
const GROUPS = { status: 'Status', assigned_to: 'Assignee', priority: 'Priority', cycle_id: 'Cycle' } as const;
const GROUP_NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

const OPEN_STATUSES = TASK_STATUSES.filter((status) => status !== 'done');

/** An empty field, and one that holds nonsense, filters nothing. */
const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).catch(undefined);

/** The filters of a project's tasks as its form sends them. `show` is a status, or `all`; without it, all but those that are done. */
export const TaskFilters = z.object({
  show: lenient(z.enum(['all', ...STATUS_CHOICES])),
  assigned_to: lenient(z.union([z.enum([VIEWER, UNASSIGNED]), z.uuid()])),
  priority: lenient(z.enum(TASK_PRIORITIES)),
  due: lenient(z.enum(DUE_RANGES)),
  created_by: lenient(z.union([z.enum([VIEWER]), z.uuid()])),
  cycle_id: lenient(z.union([z.enum([UNASSIGNED]), z.uuid()])),
  tag: lenient(Text.trim().max(50)),
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
  show === undefined ? [...OPEN_STATUSES] : show === 'all' ? undefined : [show];

/** Returns the same filters in the form of a saved view. */
export function toViewFilters(projectId: string, given: TaskFilters): ViewFilters {
  const { show, assigned_to, priority, created_by, cycle_id, tag, due, due_before, due_after, q } = given;
  const filters: ViewFilters = {
    project_id: [projectId],
    status: shownStatuses(show),
    assigned_to: assigned_to === undefined ? undefined : [assigned_to],
    priority: priority === undefined ? undefined : [priority],
    created_by: created_by === undefined ? undefined : [created_by],
    cycle_id: cycle_id === undefined ? undefined : [cycle_id],
    tags: tag === undefined ? undefined : [tag],
    due,
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
  group_by: given.group ?? null,
});

/** Returns whether the filters leave tasks out. */
const isFiltered = (given: TaskFilters): boolean => toQuery({ ...given, sort: undefined, group: undefined }) !== '';

/** Returns the query of an address with these filters: empty, or with its question mark. */
export function toQuery(given: TaskFilters, more: Record<string, string | number | undefined> = {}): string {
  const entries = Object.entries({ ...given, ...more }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const query = String(new URLSearchParams(entries as [string, string][]));
  return query === '' ? '' : `?${query}`;
}

/** What the words of a filter depend on. */
interface FilterNames {
  names: Readonly<Record<string, string>>;
  cycles: Readonly<Record<string, string>>;
  formatStatus: (status: string) => string;
  day: (date: string) => string;
}

/** Returns the filters that leave tasks out, in words, each with the query of an address without it. */
function describeFilters(
  given: TaskFilters,
  { names, cycles, formatStatus, day }: FilterNames,
): { label: string; without: string }[] {
  const { show, assigned_to, priority, due, created_by, cycle_id, tag, due_after, due_before, q } = given;
  const assignee = (id: string): string =>
    id === VIEWER ? 'Assigned to me' : id === UNASSIGNED ? 'Unassigned' : `Assigned to ${names[id] ?? 'a former member'}`;
  const labels: Partial<Record<keyof TaskFilters, string | undefined>> = {
    q: q && `“${q}”`,
    show: show && (show === 'all' ? 'All tasks' : formatStatus(show)),
    assigned_to: assigned_to && assignee(assigned_to),
    priority: priority && `Priority ${priority}`,
    due: due && DUE_NAMES[due],
    created_by: created_by && `Created by ${created_by === VIEWER ? 'me' : (names[created_by] ?? 'a former member')}`,
    cycle_id: cycle_id && (cycle_id === UNASSIGNED ? 'In no cycle' : `Cycle ${cycles[cycle_id] ?? 'of another time'}`),
    tag: tag && `#${tag}`,
    due_after: due_after && `Due after ${day(due_after)}`,
    due_before: due_before && `Due before ${day(due_before)}`,
  };
  return Object.entries(labels).flatMap(([name, label]) =>
    label ? [{ label, without: toQuery({ ...given, [name]: undefined }) }] : [],
  );
}

/** What the pages of a project show of its filters. */
export function filterData(
  given: TaskFilters,
  own: Sort,
  me: User,
  { names, filterCycles: cycles }: { names: FilterNames['names']; filterCycles: FilterNames['cycles'] },
) {
  const { formatStatus, day } = createFormatter(me);
  return {
    filters: given,
    sorts: sortChoices(own),
    groupings: Object.entries(GROUPS),
    dues: DUE_CHOICES,
    isFiltered: isFiltered(given),
    chips: describeFilters(given, { names, cycles, formatStatus, day }),
  };
}
