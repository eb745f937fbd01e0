import type { User } from '../../../identity/auth/schema.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { VIEWER } from '../../../work/saved-views/schema.js';
import { NONE } from '../../../work/tasks/filters.js';
import { STATUS_CHOICES, TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import type { Stage } from '../../../work/tasks/stages/places.js';
import { DUE_CHOICES, DUE_NAMES } from '../../wording/due-names.js';
import { createFormatter } from '../../wording/formatter.js';
import { capitalize } from '../../wording/plain-message.js';
import { ALL, EXCLUDABLE, type Excludable, GROUPS, isLeftOut, type Sort, type TaskFilters, toQuery } from './filters.js';

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

/** Returns whether the filters leave tasks out. */
const isFiltered = (given: TaskFilters): boolean =>
  toQuery({ ...given, sort: undefined, group: undefined, not: undefined }) !== '';

/** What the words of a filter depend on. */
interface FilterNames {
  names: Readonly<Record<string, string>>;
  cycles: Readonly<Record<string, string>>;
  stages: Readonly<Record<string, string>>;
  formatStatus: (status: string) => string;
  day: (date: string) => string;
}

/** Returns the words of a value of a filter. */
function nameValue(name: Excludable, value: string, { names, cycles, stages, formatStatus }: FilterNames): string {
  switch (name) {
    case 'assigned_to':
    case 'created_by':
      return value === VIEWER ? 'me' : value === NONE ? 'nobody' : (names[value] ?? 'a former member');
    case 'show':
      return value === ALL ? 'all tasks' : formatStatus(value);
    case 'cycle_id':
      return value === NONE ? 'no cycle' : (cycles[value] ?? 'a cycle of another time');
    case 'stage_id':
      return value === NONE ? 'no stage' : (stages[value] ?? 'a former stage');
    case 'tag':
      return `#${value}`;
    default:
      return value;
  }
}

/** What stands before the values of a filter in a sentence, where they are looked for and where they are left out. */
const LEADS: Readonly<Record<Excludable, readonly [wanted: string, leftOut: string]>> = {
  show: ['', 'Not '],
  assigned_to: ['Assigned to ', 'Not assigned to '],
  priority: ['Priority ', 'Priority not '],
  stage_id: ['In ', 'Not in '],
  created_by: ['Created by ', 'Not created by '],
  cycle_id: ['In ', 'Not in '],
  tag: ['', 'Not '],
};
const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

/** Returns the values of each filter in words: `not Milo or Gita`. Filters without values are absent. */
function nameValues(given: TaskFilters, about: FilterNames): Partial<Record<Excludable, string>> {
  const named = EXCLUDABLE.flatMap((name) => {
    const values = given[name];
    return values === undefined ? [] : [[name, EITHER.format(values.map((value) => nameValue(name, value, about)))] as const];
  });
  return Object.fromEntries(named);
}

/** Returns the filters that leave tasks out, in words, each with the query of an address without it. */
function describeFilters(given: TaskFilters, about: FilterNames): { label: string; without: string }[] {
  const { due, due_after, due_before, q, not = [] } = given;
  const { day } = about;
  const named = Object.entries(nameValues(given, about)) as [Excludable, string][];
  const values = named.map(([name, words]) => {
    const isNot = isLeftOut(given, name);
    const isFree = name === 'assigned_to' && given.assigned_to?.join() === NONE;
    return [name, isFree ? (isNot ? 'Assigned' : 'Unassigned') : capitalize(`${LEADS[name][isNot ? 1 : 0]}${words}`)];
  });
  const labels: Partial<Record<keyof TaskFilters, string | undefined>> = {
    q: q && `“${q}”`,
    ...Object.fromEntries(values),
    due: due && DUE_NAMES[due],
    due_after: due_after && `Due after ${day(due_after)}`,
    due_before: due_before && `Due before ${day(due_before)}`,
  };
  const others = (name: string) => not.filter((one) => one !== name);
  return Object.entries(labels).flatMap(([name, label]) =>
    label ? [{ label, without: toQuery({ ...given, [name]: undefined, not: others(name) }) }] : [],
  );
}

type Choice = [value: string, name: string];

/** What a list can be narrowed by, as the form offers it. */
export interface Pick {
  name: Excludable;
  label: string;
  /** What no choice means. */
  free: string;
  choices: Choice[];
  chosen: readonly string[];
  isNot: boolean;
  /** The chosen values in words; undefined without any. */
  said: string | undefined;
  /** Stands among the further filters. */
  isFolded: boolean;
}

/** What the pages of a project know of it. */
interface Around {
  names: FilterNames['names'];
  filterCycles: FilterNames['cycles'];
  members: readonly { user_id: string; display_name: string }[];
  stages: readonly Stage[];
}

/** Returns the filters with several values, with their choices. `given` has no `show` on a board, whose columns are the statuses. */
function listPicks(given: TaskFilters, me: User, about: FilterNames, { members, stages }: Around, hasStatus: boolean): Pick[] {
  const said = nameValues(given, about);
  const people = members.filter(({ user_id }) => user_id !== me.user_id);
  const everyone = people.map(({ user_id, display_name }): Choice => [user_id, display_name]);
  const me_: Choice = [VIEWER, 'Me'];
  const pick = (name: Excludable, label: string, free: string, choices: Choice[], isFolded = false): Pick => {
    const chosen = given[name] ?? [];
    const known = new Set(choices.map(([value]) => value));
    // What is chosen and not among the choices stays chosen.
    const others = chosen.filter((value) => !known.has(value)).map((value): Choice => [value, nameValue(name, value, about)]);
    const isNot = given.not?.includes(name) === true && chosen[0] !== ALL;
    return { name, label, free, choices: [...choices, ...others], chosen, isNot, said: said[name], isFolded };
  };
  const statuses: Choice[] = [[ALL, 'All tasks'], ...STATUS_CHOICES.map((one): Choice => [one, about.formatStatus(one)])];
  return [
    ...(hasStatus ? [pick('show', 'Show', 'Open tasks', statuses)] : []),
    pick('assigned_to', 'Assigned to', 'Anyone', [me_, [NONE, 'Nobody'], ...everyone]),
    pick(
      'priority',
      'Priority',
      'Any',
      TASK_PRIORITIES.map((one): Choice => [one, about.formatStatus(one)]),
    ),
    ...(stages.length > 0
      ? [pick('stage_id', 'Stage', 'Any', [...stages.map((one): Choice => [one.stage_id, one.name]), [NONE, 'No stage']], true)]
      : []),
    pick('created_by', 'Created by', 'Anyone', [me_, ...everyone], true),
    pick('cycle_id', 'Cycle', 'Any', [...Object.entries(about.cycles), [NONE, 'No cycle']], true),
  ];
}

/** What the pages of a project show of its filters. */
export function filterData(given: TaskFilters, own: Sort, me: User, around: Around, hasStatus: boolean) {
  const { formatStatus, day } = createFormatter(me);
  const stages = Object.fromEntries(around.stages.map(({ stage_id, name }) => [stage_id, name]));
  const about = { names: around.names, cycles: around.filterCycles, stages, formatStatus, day };
  return {
    filters: given,
    sorts: sortChoices(own),
    groupings: Object.entries(GROUPS),
    dues: DUE_CHOICES,
    hasStatus,
    picks: listPicks(given, me, about, around, hasStatus),
    isFiltered: isFiltered(given),
    chips: describeFilters(given, about),
  };
}
