import { VIEWER } from '../../../work/saved-views/schema.js';
import { NONE } from '../../../work/tasks/filters.js';
import { DUE_NAMES } from '../../wording/due-names.js';
import { capitalize } from '../../wording/plain-message.js';
import { EITHER } from './choices.js';
import { fieldParam } from './field-params.js';
import { describeField, type FieldNames } from './field-picks.js';
import { ALL, EXCLUDABLE, type Excludable, type Filters, isLeftOut, toQuery } from './filters.js';

/** What the words of a filter depend on. */
export interface FilterNames extends FieldNames {
  cycles: Readonly<Record<string, string>>;
  stages: Readonly<Record<string, string>>;
  projects: Readonly<Record<string, string>>;
  formatStatus: (status: string) => string;
}

/** Returns the words of a value of a filter. */
export function nameValue(name: Excludable, value: string, about: FilterNames): string {
  const { names, cycles, stages, projects, formatStatus } = about;
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
    case 'project_id':
      return projects[value] ?? 'another project';
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
  stage_id: ['Stage: ', 'Stage not: '],
  project_id: ['In ', 'Not in '],
  created_by: ['Created by ', 'Not created by '],
  cycle_id: ['In ', 'Not in '],
  tag: ['', 'Not '],
};

/** Returns the values of each filter in words: `not Milo or Gita`. Filters without values are absent. */
export function nameValues(given: Filters, about: FilterNames): Partial<Record<Excludable, string>> {
  const named = EXCLUDABLE.flatMap((name) => {
    const values = given[name];
    return values === undefined ? [] : [[name, EITHER.format(values.map((value) => nameValue(name, value, about)))] as const];
  });
  return Object.fromEntries(named);
}

/** Returns the filters that leave tasks out, in words, each with the query of an address without it. */
export function describeFilters(given: Filters, about: FilterNames): { label: string; without: string }[] {
  const { due, due_after, due_before, q, not = [], fields = {} } = given;
  const { day } = about;
  const named = Object.entries(nameValues(given, about)) as [Excludable, string][];
  const values = named.map(([name, words]) => {
    const isNot = isLeftOut(given, name);
    const isFree = name === 'assigned_to' && given.assigned_to?.join() === NONE;
    return [name, isFree ? (isNot ? 'Assigned' : 'Unassigned') : capitalize(`${LEADS[name][isNot ? 1 : 0]}${words}`)];
  });
  const labels: Partial<Record<keyof Filters, string | undefined>> = {
    q: q && `“${q}”`,
    ...Object.fromEntries(values),
    due: due && DUE_NAMES[due],
    due_after: due_after && `Due after ${day(due_after)}`,
    due_before: due_before && `Due before ${day(due_before)}`,
  };
  const others = (name: string) => not.filter((one) => one !== name);
  const own = Object.entries(labels).flatMap(([name, label]) =>
    label ? [{ label, without: toQuery({ ...given, [name]: undefined, not: others(name) }) }] : [],
  );
  const custom = Object.entries(fields).map(([key, some]) => {
    const { [key]: _gone, ...rest } = fields;
    const label = describeField(key, some, not.includes(fieldParam(key)), about);
    return { label, without: toQuery({ ...given, fields: rest, not: others(fieldParam(key)) }) };
  });
  return [...own, ...custom];
}
