import { z } from 'zod';
import { ClampedInt, Text } from '../../../platform/fields.js';
import { checkView } from '../../../work/saved-views/check-view.js';
import { parseCustomKey } from '../../../work/custom-fields/rules.js';
import { filtersOf, LAYOUTS, STATUSES_OF, type ViewEntity } from '../../../work/saved-views/rules.js';
import { type SavedViewRecord, UpdateSavedView, ViewFilters } from '../../../work/saved-views/schema.js';
import { withFields } from '../filters/field-params.js';
import {
  ALL,
  type Filters,
  fromViewFilters,
  lenient,
  severalOf,
  TaskFilters,
  toQuery,
  toViewFilters,
} from '../filters/filters.js';
import { parseInput } from '../projects/form-fields.js';

/** Fields of a record that a row of a list can show beside title and status, in the order of the form. */
export const ROW_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['project_id', 'priority', 'due_date', 'assigned_to', 'tags', 'estimate', 'estimated_hours', 'created_at', 'updated_at'],
  project: ['start_date', 'end_date', 'created_at', 'updated_at'],
  work_item: ['type', 'created_at', 'updated_at'],
};
/** Those that a row shows for a view that names none. */
const USUAL_FIELDS: Readonly<Record<ViewEntity, readonly string[]>> = {
  task: ['project_id', 'priority', 'due_date', 'assigned_to', 'tags', 'estimate'],
  project: [],
  work_item: ['type'],
};

/** Returns the columns of a view: those that it names, after the usual ones if it names no field of the record. */
export function columnsOf({ entity_type, columns }: Pick<SavedViewRecord, 'entity_type' | 'columns'>): string[] {
  const hasOwn = columns.some((column) => parseCustomKey(column) === undefined);
  return hasOwn ? columns : [...USUAL_FIELDS[entity_type], ...columns];
}

/** Returns the keys of the custom fields that a view names as columns; undefined for one that names no column. */
export const namedFields = ({ columns }: Pick<SavedViewRecord, 'columns'>): string[] | undefined =>
  columns.length === 0 ? undefined : columns.flatMap((column) => parseCustomKey(column) ?? []);

const Columns = UpdateSavedView.shape.columns.unwrap();
const Mark = z.literal('yes').optional().catch(undefined);
const statuses = [ALL, ...new Set(Object.values(STATUSES_OF).flat())] as [string, ...string[]];

/** What the bar of a view says of it. Without anything, the view is as it is saved; `edited` says that it has nothing to say. */
export const ViewQuery = withFields(
  TaskFilters.extend({
    edited: Mark,
    show: severalOf(z.enum(statuses)),
    project_id: severalOf(z.uuid()),
    team: lenient(z.uuid()),
    sort: lenient(Text.max(80)),
    reversed: Mark,
    group: lenient(Text.max(80)),
    layout: lenient(z.enum(LAYOUTS)),
    columns: severalOf(Columns.element),
    offset: ClampedInt(0, 10_000, 0).catch(0),
  }),
);
export type Bar = Filters & { [name in 'edited' | 'team' | 'reversed']?: string | undefined } & {
  layout?: SavedViewRecord['layout'] | undefined;
  columns?: string[] | undefined;
};

/** Returns what the bar of a page says; undefined where the view is as it is saved. */
export function barIn({ offset: _offset, ...bar }: z.output<typeof ViewQuery>): Bar | undefined {
  return Object.values(bar).some((value) => value !== undefined) ? { ...bar, edited: 'yes' } : undefined;
}

/** Fields whose usual order begins with the greatest value. */
const DOWNWARDS = new Set(['created_at', 'updated_at', 'completed_at', 'priority', 'estimate', 'estimated_hours']);

/** Returns the order of a field; undefined for the one without a field. */
export const orderOf = (field: string, isReversed: boolean): SavedViewRecord['sort'][number] => ({
  field,
  direction: DOWNWARDS.has(field) !== isReversed ? 'desc' : 'asc',
});

/** Returns what the bar says of a view as it is stored. */
export function toBar(view: SavedViewRecord): Bar {
  const { entity_type, team_id, group_by, layout } = view;
  const [order] = view.sort;
  const columns = columnsOf(view);
  return {
    edited: 'yes',
    ...fromViewFilters(ViewFilters.safeParse(view.filters).data ?? {}, entity_type),
    team: team_id ?? undefined,
    sort: order?.field,
    reversed: order && order.direction !== orderOf(order.field, false).direction ? 'yes' : undefined,
    group: group_by ?? undefined,
    layout: layout === 'board' ? layout : undefined,
    columns: isSame(columns, USUAL_FIELDS[entity_type]) ? undefined : columns,
  };
}

/** Compares what two bars say of something. The order of ticks means nothing. */
function isSame(one: unknown, other: unknown): boolean {
  const text = (value: unknown): string =>
    Array.isArray(value)
      ? JSON.stringify(value.map(String).toSorted((a, b) => (a < b ? -1 : 1)))
      : typeof value === 'object' && value !== null
        ? JSON.stringify(
            Object.entries(value)
              .map(([name, some]) => [name, text(some)])
              .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
          )
        : JSON.stringify(value ?? null);
  return text(one) === text(other);
}

/** @throws VALIDATION_ERROR */
const parseColumns = (columns: string[] = []): string[] => parseInput(z.object({ columns: Columns }), { columns }).columns;

/** What of a view a bar can change. */
type Changes = Pick<SavedViewRecord, 'team_id' | 'filters' | 'sort' | 'group_by' | 'layout' | 'columns'>;

/** What is as the bar showed it stays as it is stored: a bar cannot say each value, such as the time of a day. @throws VALIDATION_ERROR */
function mergeFilters({ filters, entity_type }: SavedViewRecord, given: Bar, shown: Bar): Record<string, unknown> {
  const [typed, before] = [toViewFilters(given, entity_type), toViewFilters(shown, entity_type)];
  const names = filtersOf(entity_type) as readonly (keyof ViewFilters)[];
  const changed = names.filter((name) => !isSame(typed[name], before[name]));
  const kept = Object.entries(filters).filter(([name]) => !changed.includes(name as keyof ViewFilters));
  const next = changed.filter((name) => typed[name] !== undefined).map((name) => [name, typed[name]] as const);
  return { ...Object.fromEntries(kept), ...parseInput(ViewFilters, Object.fromEntries(next)) };
}

/** Returns the view that a bar describes. Orders after the first one, which no bar shows, stay. @throws VALIDATION_ERROR */
export function applyBar(saved: SavedViewRecord, given: Bar | undefined): SavedViewRecord {
  if (given === undefined) return saved;
  const shown = toBar(saved);
  const columns = isSame(given.columns, USUAL_FIELDS[saved.entity_type]) ? undefined : given.columns;
  const isBoard = given.layout === 'board';
  const isOrdered = given.sort === shown.sort && (given.sort === undefined || given.reversed === shown.reversed);
  const others = saved.sort.slice(1).filter(({ field }) => field !== given.sort);
  const sort = given.sort === undefined ? [] : [orderOf(given.sort, given.reversed === 'yes'), ...others];
  const changes: Changes = {
    team_id: given.team ?? null,
    filters: mergeFilters(saved, given, shown),
    sort: isOrdered ? saved.sort : sort,
    // The bar of a board has neither.
    group_by: given.group ?? (isBoard ? saved.group_by : null),
    layout: given.layout ?? 'list',
    columns: isSame(columns, shown.columns) || (isBoard && columns === undefined) ? saved.columns : parseColumns(columns),
  };
  const view = { ...saved, ...changes };
  checkView({ ...view, filters: ViewFilters.parse(view.filters) });
  return view;
}

/** Returns whether a view is to be saved to become what the page shows. */
export const differs = (saved: SavedViewRecord, view: SavedViewRecord): boolean => {
  const of = ({ team_id, filters, sort, group_by, layout, columns }: SavedViewRecord) =>
    JSON.stringify([team_id, sort, group_by, layout, columns]) + JSON.stringify(filters);
  return of(saved) !== of(view);
};

/** Returns the query of the page of a view: empty where it is as it is saved. */
export const viewQuery = (bar: Bar | undefined, more: Record<string, number | undefined> = {}): string =>
  toQuery(bar === undefined ? {} : bar, more);
