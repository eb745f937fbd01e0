import { type SavedViewRecord, UNASSIGNED, VIEWER, ViewFilters } from '../../../work/saved-views/schema.js';
import { DUE_NAMES } from '../../wording/due-names.js';
import { nameSortField, wordOrder } from '../../wording/sort-names.js';

/** What a description needs of the page: names by id, and how statuses and days are written. */
export interface ViewNames {
  people: Readonly<Record<string, string>>;
  cycles: Readonly<Record<string, string>>;
  /** Of the only project, if the reader may read it. */
  project: string | undefined;
  formatStatus: (status: string) => string;
  day: (date: string) => string;
}

const ENTITIES = { task: 'Tasks', project: 'Projects', work_item: 'Work items' } as const;

/** Returns the filters and the order of a view in words, one phrase each: `Tasks`, `priority urgent or high`, `newest first`. */
export function describeView(
  { entity_type, filters, sort, group_by, layout }: SavedViewRecord,
  { people, cycles, project, formatStatus, day }: ViewNames,
): string[] {
  const given = ViewFilters.safeParse(filters).data ?? {};
  const some = (label: string, values: readonly string[] = []): string[] =>
    values.length > 0 ? [`${label} ${values.join(' or ')}`] : [];
  const personName = (id: string): string =>
    id === VIEWER ? 'you' : id === UNASSIGNED ? 'nobody' : (people[id] ?? 'a former member').replace(/^You$/, 'you');
  return [
    ENTITIES[entity_type],
    ...some('status', given.status?.map(formatStatus)),
    ...some('priority', given.priority),
    ...some('assigned to', given.assigned_to?.map(personName)),
    ...some('created by', given.created_by?.map(personName)),
    ...some(
      'in',
      given.cycle_id?.map((id) => (id === UNASSIGNED ? 'no cycle' : (cycles[id] ?? 'one cycle'))),
    ),
    ...some('tagged', given.tags),
    ...(given.project_id?.length
      ? [given.project_id.length === 1 ? `in ${project ?? 'one project'}` : `in ${given.project_id.length} projects`]
      : []),
    ...(given.due ? [DUE_NAMES[given.due].toLowerCase()] : []),
    ...(given.due_after ? [`due after ${day(given.due_after)}`] : []),
    ...(given.due_before ? [`due before ${day(given.due_before)}`] : []),
    ...(given.q ? [`with “${given.q}”`] : []),
    ...Object.entries(given.custom_fields ?? {}).flatMap(([key, values]) => some(nameSortField(key), values.map(String))),
    ...sort.slice(0, 1).map(wordOrder),
    ...(group_by !== null && layout === 'list' ? [`grouped by ${nameSortField(group_by)}`] : []),
  ];
}
