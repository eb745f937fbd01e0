import type { User } from '../../../identity/auth/schema.js';
import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import { filtersOf, STATUSES_OF, type ViewEntity } from '../../../work/saved-views/rules.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { VIEWER } from '../../../work/saved-views/schema.js';
import { NONE } from '../../../work/tasks/filters.js';
import { formatPriority, STATUS_CHOICES, TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import type { Stage } from '../../../work/tasks/stages/places.js';
import { DUE_CHOICES } from '../../wording/due-names.js';
import { createFormatter } from '../../wording/formatter.js';
import { type Choice, type Pick, type Select, withChosen } from './choices.js';
import { listFieldPicks } from './field-picks.js';
import { describeFilters, type FilterNames, nameValue, nameValues } from './filter-words.js';
import { ALL, EXCLUDABLE, type Excludable, type Filters, GROUPS, type Sort, toQuery, VIEW_NAMES } from './filters.js';

const SORT_NAMES: Readonly<Record<Sort, string>> = {
  [MANUAL_ORDER]: 'Manual order',
  created_at: 'Newest first',
  due_date: 'Due date',
  priority: 'Priority',
  updated_at: 'Last change',
  title: 'Title',
};

/** What the pages of a list know around its filters. */
export interface Around {
  names: FilterNames['names'];
  filterCycles: FilterNames['cycles'];
  members: readonly { user_id: string; display_name: string }[];
  stages: readonly Stage[];
  fields: readonly CustomFieldRecord[];
  /** Names of projects, where they are a filter. */
  projects?: Readonly<Record<string, string>>;
}

/** Which filters and choices a bar offers. */
export interface BarShape {
  entity: ViewEntity;
  /** Filters of the entity that the page has no use for. */
  without: readonly Excludable[];
  /** The orders, the page's own first, with an empty value. */
  sorts: Choice[];
  /** None: the page has groups of its own. */
  groupings: Choice[];
  /** Further choices of the page. */
  selects?: Select[];
  picks?: Pick[];
}

/** The orders of a project's tasks, the page's own first. */
const sortChoices = (own: Sort): Choice[] => [
  ['', SORT_NAMES[own]],
  ...Object.entries(SORT_NAMES).filter(([field]) => field !== own),
];

/** Returns the bar of a project's list, or of its board, whose columns are the statuses. */
export const projectBar = (own: Sort, isBoard: boolean): BarShape => ({
  entity: 'task',
  without: isBoard ? ['project_id', 'show'] : ['project_id'],
  sorts: sortChoices(own),
  groupings: isBoard ? [] : Object.entries(GROUPS),
});

/** Returns the filters with several values, with their choices. */
function listPicks(given: Filters, me: User, about: FilterNames, around: Around, { entity, without }: BarShape): Pick[] {
  const { members, stages, projects = {} } = around;
  const said = nameValues(given, about);
  const people = members.filter(({ user_id }) => user_id !== me.user_id);
  const everyone = people.map(({ user_id, display_name }): Choice => [user_id, display_name]);
  const me_: Choice = [VIEWER, 'Me'];
  const known = filtersOf(entity);
  const pick = (name: Excludable, label: string, free: string, choices: Choice[]): Pick[] => {
    if (!known.includes(VIEW_NAMES[name]) || without.includes(name)) return [];
    const chosen = given[name] ?? [];
    const isNot = given.not?.includes(name) === true && chosen[0] !== ALL;
    const all = withChosen(choices, chosen, (value) => nameValue(name, value, about));
    return [{ name, label, free, choices: all, chosen, isNot, said: said[name], isDisplay: false }];
  };
  const statuses = (entity === 'task' ? STATUS_CHOICES : STATUSES_OF[entity]).map(
    (one): Choice => [one, about.formatStatus(one)],
  );
  const priorities = TASK_PRIORITIES.map((one): Choice => [one, formatPriority(one)]);
  const ofStages: Choice[] = [
    ...stages.map((one): Choice => [one.stage_id, about.stages[one.stage_id] ?? one.name]),
    [NONE, 'No stage'],
  ];
  return [
    ...(entity === 'task'
      ? pick('show', 'Show', 'Open tasks', [[ALL, 'All tasks'], ...statuses])
      : pick('show', 'Status', 'Any', statuses)),
    ...pick('assigned_to', 'Assigned to', 'Anyone', [me_, [NONE, 'Nobody'], ...everyone]),
    ...pick('priority', 'Priority', 'Any', priorities),
    ...pick('project_id', 'Project', 'Any', Object.entries(projects)),
    ...(stages.length > 0 || given.stage_id ? pick('stage_id', 'Stage', 'Any', ofStages) : []),
    ...pick('created_by', 'Created by', 'Anyone', [me_, ...everyone]),
    ...pick('cycle_id', 'Cycle', 'Any', [...Object.entries(about.cycles), [NONE, 'No cycle']]),
  ];
}

/** Returns the choices of one of several that the bar has. */
function listSelects({ due, sort = '', group = '' }: Filters, { entity, sorts, groupings, selects = [] }: BarShape): Select[] {
  const dues: Choice[] = [['', 'Any day'], ...DUE_CHOICES];
  const groups: Choice[] = [['', 'Nothing'], ...groupings];
  return [
    ...(filtersOf(entity).includes('due')
      ? [{ name: 'due', label: 'Due', choices: dues, chosen: due ?? '', isDisplay: false }]
      : []),
    { name: 'sort', label: 'Sorted by', choices: sorts, chosen: sort, isDisplay: true },
    ...(groupings.length > 0 ? [{ name: 'group', label: 'Grouped by', choices: groups, chosen: group, isDisplay: true }] : []),
    ...selects,
  ];
}

/** What a page shows of its filters. */
export function filterData(given: Filters, me: User, around: Around, shape: BarShape) {
  const { formatStatus, day } = createFormatter(me);
  const { names, filterCycles: cycles, fields, projects = {} } = around;
  const stages = Object.fromEntries(around.stages.map(({ stage_id, name }) => [stage_id, name]));
  const about: FilterNames = { names, cycles, stages, projects, fields, formatStatus, day };
  const chips = describeFilters(given, about);
  const known = filtersOf(shape.entity);
  const tag: Pick = {
    name: 'tag',
    label: 'Tag',
    free: '',
    choices: undefined,
    chosen: given.tag ?? [],
    isNot: given.not?.includes('tag') === true,
    said: nameValues(given, about).tag,
    isDisplay: false,
  };
  const nothing = Object.fromEntries(
    [...EXCLUDABLE, 'not', 'q', 'due', 'due_after', 'due_before', 'fields'].map((name) => [name, undefined]),
  );
  return {
    filters: given,
    hasDays: known.includes('due_after'),
    selects: listSelects(given, shape),
    picks: [
      ...listPicks(given, me, about, around, shape),
      ...(known.includes('tags') ? [tag] : []),
      ...(known.includes('custom_fields') ? listFieldPicks(given, about, around.members) : []),
      ...(shape.picks ?? []),
    ],
    isFiltered: chips.length > 0,
    /** The query without filters. */
    cleared: toQuery({ ...given, ...nothing }),
    chips,
  };
}
