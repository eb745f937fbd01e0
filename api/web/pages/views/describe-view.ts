import { type SavedViewRecord, VIEWER, ViewFilters } from '../../../work/saved-views/schema.js';
import { NONE, type ValueFilter } from '../../../work/tasks/filters.js';
import { DUE_NAMES } from '../../wording/due-names.js';
import { nameSortField, wordOrder } from '../../wording/sort-names.js';

/** What a description needs of the page: names by id, and how statuses and days are written. */
export interface ViewNames {
  people: Readonly<Record<string, string>>;
  cycles: Readonly<Record<string, string>>;
  stages: Readonly<Record<string, string>>;
  /** Of the only project, if the reader may read it. */
  project: string | undefined;
  formatStatus: (status: string) => string;
  day: (date: string) => string;
}

const ENTITIES = { task: 'Tasks', project: 'Projects', work_item: 'Work items' } as const;

/** Returns the filters and the order of a view in words, one phrase each: `Tasks`, `priority urgent or high`, `newest first`. */
export function describeView(
  { entity_type, filters, sort, group_by, layout }: SavedViewRecord,
  { people, cycles, stages, project, formatStatus, day }: ViewNames,
): string[] {
  const given = ViewFilters.safeParse(filters).data ?? {};
  const join = (label: string, values: readonly string[] = []): string[] =>
    values.length > 0 ? [`${label} ${values.join(' or ')}`] : [];
  /** What is looked for, then what is left out. */
  const some = (
    label: string,
    name: Exclude<ValueFilter, 'resolution'>,
    word: (value: string) => string = (value) => value,
  ): string[] => [...join(label, given[name]?.map(word)), ...join(`${label} not`, given[`not_${name}`]?.map(word))];
  const personName = (id: string): string =>
    id === VIEWER ? 'you' : id === NONE ? 'nobody' : (people[id] ?? 'a former member').replace(/^You$/, 'you');
  return [
    ENTITIES[entity_type],
    ...some('status', 'status', formatStatus),
    ...some('priority', 'priority'),
    ...some('assigned to', 'assigned_to', personName),
    ...some('created by', 'created_by', personName),
    ...some('in', 'cycle_id', (id) => (id === NONE ? 'no cycle' : (cycles[id] ?? 'one cycle'))),
    ...some('in', 'stage_id', (id) => (id === NONE ? 'no stage' : (stages[id] ?? 'a former stage'))),
    ...some('tagged', 'tags'),
    ...(given.project_id?.length
      ? [given.project_id.length === 1 ? `in ${project ?? 'one project'}` : `in ${given.project_id.length} projects`]
      : []),
    ...(given.not_project_id?.length
      ? [`not in ${given.not_project_id.length === 1 ? 'one project' : `${given.not_project_id.length} projects`}`]
      : []),
    ...(given.due ? [DUE_NAMES[given.due].toLowerCase()] : []),
    ...(given.due_after ? [`due after ${day(given.due_after)}`] : []),
    ...(given.due_before ? [`due before ${day(given.due_before)}`] : []),
    ...(given.q ? [`with “${given.q}”`] : []),
    ...Object.entries(given.custom_fields ?? {}).flatMap(([key, values]) => join(nameSortField(key), values.map(String))),
    ...Object.entries(given.not_custom_fields ?? {}).flatMap(([key, values]) =>
      join(`${nameSortField(key)} not`, values.map(String)),
    ),
    ...sort.slice(0, 1).map(wordOrder),
    ...(group_by !== null && layout === 'list' ? [`grouped by ${nameSortField(group_by)}`] : []),
  ];
}
