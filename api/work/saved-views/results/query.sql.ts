import { Parameters } from '../../../../db/statement-parameters.js';
import type { Call } from '../../../../db/statement.js';
import { idsWithAll, withoutFields } from '../../custom-fields/filter.sql.js';
import type { FieldFilter } from '../../custom-fields/filter.js';
import type { ValueColumn } from '../../custom-fields/rules.js';
import { NONE } from '../../tasks/filters.js';
import { manualKey } from '../../tasks/order/manual-key.js';
import { valueConditions } from '../../tasks/read/value-filters.sql.js';
import type { ViewEntity } from '../rules.js';
import type { ViewFilters } from '../schema.js';
import { KeptPlans } from './kept-plans.js';
import { SOURCES, sortKey } from './sources.sql.js';

/** A field to sort or group by: a column of the record, or the values of custom fields with one key. */
export type OrderField = { name: string } | { fieldIds: string[]; columns: ValueColumn[] };
type OrderBy = { field: OrderField; direction: 'asc' | 'desc' };

/** A view, with everything that is looked up by its key, by words or by the viewer. */
export interface ResolvedView {
  entity: ViewEntity;
  userId: string;
  /** Roles that may read. */
  roles: string[];
  teamId: string | null;
  filters: Omit<ViewFilters, 'q' | 'custom_fields' | 'not_custom_fields' | 'due'> & { due?: typeof NONE | undefined };
  fieldFilters: FieldFilter[];
  /** What these find is left out. */
  notFieldFilters: FieldFilter[];
  /** Ids that a search found; null without one. */
  found: string[] | null;
  sort: OrderBy[];
  group: OrderField | null;
}

/** What a row is sorted by, one expression each, and what must be joined for it. */
interface Keys {
  join: string;
  expressions: { sql: string; direction: 'asc' | 'desc' }[];
}

const GROUP_TEXT: Record<ValueColumn, (column: string) => string> = {
  value_text: (column) => column,
  value_number: (column) => `${column}::text`,
  value_date: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
  value_boolean: (column) => `${column}::text`,
  value_list: (column) => `array_to_string(${column}, ', ')`,
};

/** An item has at most one value of a key, because its team has one field of the key: the join adds no row. */
const joinValues = (entity: ViewEntity, alias: string, fieldIds: string[], $: Parameters): string =>
  `left join custom_field_values ${alias} on ${alias}.field_id = any(${$.add(fieldIds, 'uuid[]')}) and ${alias}.entity_id = ${SOURCES[entity].id}`;

function buildKeys(entity: ViewEntity, order: readonly OrderBy[], $: Parameters): Keys {
  const keys: Keys = { join: '', expressions: [] };
  for (const [at, { field, direction }] of order.entries()) {
    if ('name' in field) {
      keys.expressions.push({ sql: sortKey(entity, field.name), direction });
      continue;
    }
    if (field.fieldIds.length === 0) continue;
    const alias = `v${at}`;
    keys.join += ` ${joinValues(entity, alias, field.fieldIds, $)}`;
    keys.expressions.push(...field.columns.map((column) => ({ sql: `${alias}.${column}`, direction })));
  }
  return keys;
}

/** The text of a row's group; null for none. `alias` is that of the values of the group's field. */
function groupText(entity: ViewEntity, group: OrderField, alias: string): string {
  if ('name' in group) return `(${SOURCES[entity].columns[group.name]})::text`;
  if (group.fieldIds.length === 0) return 'null::text';
  return `coalesce(${group.columns.map((column) => GROUP_TEXT[column](`${alias}.${column}`)).join(', ')})`;
}

/** Conditions of the filters: any value of one, all of them. An empty list filters nothing. */
function buildConditions({ entity, filters, notFieldFilters }: ResolvedView, $: Parameters): string {
  const { due, due_before, due_after, ...values } = filters;
  return [
    SOURCES[entity].live,
    ...valueConditions('w', values, $, (name) => name === 'stage_id'),
    ...(due === NONE ? ['w.due_date is null'] : []),
    ...(due_before === undefined ? [] : [`w.due_date collate "C" < ${$.add(due_before, 'text')}`]),
    // After a day means after all its times.
    ...(due_after === undefined
      ? []
      : [`w.due_date collate "C" > ${$.add(due_after.length === 10 ? `${due_after}~` : due_after, 'text')}`]),
    ...withoutFields(SOURCES[entity].id, notFieldFilters, $),
  ].join(' and ');
}

/** Ids that words or custom fields name; null without such a filter. */
function namedIds({ fieldFilters, found }: ResolvedView, $: Parameters): string | null {
  const parts = [
    ...(fieldFilters.length > 0 ? [`select x.entity_id from (${idsWithAll(fieldFilters, $)}) x`] : []),
    ...(found === null ? [] : [`select f.id from unnest(${$.add(found, 'text[]')}) as f(id)`]),
  ];
  // Each id once: `intersect` and `union` alike.
  return parts.length === 0
    ? null
    : parts.length === 1
      ? `select distinct n.* from (${parts[0]}) as n(id)`
      : parts.join(' intersect ');
}

/** Rows of the viewer's teams that pass the filters, as CTE `hits`. `maxRows`: rows of each team that are enough. */
function buildHitsSql(
  view: ResolvedView,
  columns: string,
  join: string,
  order: string | null,
  maxRows: number | null,
  $: Parameters,
): string {
  const { from, id } = SOURCES[view.entity];
  const team = view.teamId === null ? '' : ` and m.team_id = ${$.add(view.teamId, 'uuid')}`;
  const seats = `seats as materialized (select m.team_id from memberships m where m.user_id = ${$.add(view.userId, 'uuid')}
    and coalesce(m.role = any(${$.add(view.roles, 'text[]')}), false)${team})`;
  const conditions = buildConditions(view, $);
  const named = namedIds(view, $);
  const rows = (where: string, end: string) => `select ${columns} from ${from} ${join} where ${where} and ${conditions} ${end}`;
  if (named !== null) {
    const one = rows(`${id} = named.id and (w.team_id in (select s.team_id from seats s)) is true`, 'limit 1');
    return `${seats}, named (id) as materialized (${named}),
      hits as materialized (select h.* from named cross join lateral (${one}) h)`;
  }
  const end = order === null || maxRows === null ? '' : `order by ${order} limit (select ${$.add(maxRows, 'bigint')})`;
  return `${seats}, hits as materialized (select h.* from seats m cross join lateral (${rows('w.team_id = m.team_id', end)}) h)`;
}

/** Of this process: its connections keep them. */
const keptPlans = new KeptPlans();

/** A part of a view's results. `maxBytes` of records, but for a single one. */
interface ResultsPage {
  limit: number;
  offset: number;
  maxBytes: number;
}

/** Filters whose values do not decide which index is best. */
const PLAIN_FILTERS = new Set(['status', 'priority', 'not_status', 'not_priority']);
const hasPlainFilters = ({ filters, fieldFilters, notFieldFilters, found }: ResolvedView): boolean =>
  found === null &&
  fieldFilters.length + notFieldFilters.length === 0 &&
  Object.entries(filters).every(([name, value]) => value === undefined || PLAIN_FILTERS.has(name));

/**
 * One page of a view: the number of its rows, and of those that were read, whose records are separated by commas. Planned for its own values,
 * unless they do not matter.
 */
export function resultsCall(view: ResolvedView, { limit, offset, maxBytes }: ResultsPage): Call {
  const $ = new Parameters();
  const source = SOURCES[view.entity];
  const ordered: OrderBy[] = [...(view.group ? [{ field: view.group, direction: 'asc' as const }] : []), ...view.sort];
  const { join, expressions } = buildKeys(view.entity, ordered, $);
  // Tasks of one moment come from one file, whose order is their manual one.
  const ties = view.entity === 'task' ? [manualKey('w')] : [];
  const columns = [
    `${source.id} as id`,
    ...(view.entity === 'work_item' ? ['w.type'] : []),
    ...expressions.map(({ sql }, at) => `${sql} as s${at}`),
    'w.created_at as made',
    ...ties.map((sql, at) => `${sql} as t${at}`),
  ];
  const order = [
    ...expressions.map(({ direction }, at) => `s${at} ${direction} nulls last`),
    'made',
    ...ties.map((_sql, at) => `t${at}`),
    'id',
  ].join(', ');
  const inner = [
    ...expressions.map(({ sql, direction }) => `${sql} ${direction} nulls last`),
    'w.created_at',
    ...ties,
    source.id,
  ].join(', ');
  const hits = buildHitsSql(view, columns.join(', '), join, inner, offset + limit, $);
  const shown = `r.n <= ${$.add(offset + limit - 1, 'bigint')} and (r.bytes <= ${$.add(maxBytes, 'bigint')} or r.n = ${$.add(offset + 1, 'bigint')})`;
  const text = `with ${hits}, page as materialized (
      select h.*, row_number() over (order by ${order}) as n from hits h order by n limit ${$.add(limit, 'bigint')} offset ${$.add(offset, 'bigint')}
    )
    select count(*)::int as count, count(*) filter (where ${shown})::int as read, string_agg(r.record, ',' order by r.n) filter (where ${shown}) as records
    from (
      select k.n, ${source.record} as record, sum(octet_length(${source.record})) over (order by k.n rows unbounded preceding) as bytes
      from page k ${source.join('k.id')} offset 0
    ) r`;
  return { statement: { name: hasPlainFilters(view) ? keptPlans.nameOf(text) : '', text }, values: $.values };
}

/** Groups whose rows are counted. */
const MAX_GROUPS = 1_000;

/** The groups of a view with the number of their rows and the sum of their estimates, null without any, in the order of its results. */
export function groupsCall(view: ResolvedView, group: OrderField): Call {
  const $ = new Parameters();
  const { join, expressions } = buildKeys(view.entity, [{ field: group, direction: 'asc' }], $);
  const places = expressions.map((_one, at) => `s${at}`);
  const points = view.entity === 'task' ? 'case when w.resolution is null then w.estimate end' : 'null::smallint';
  const columns = [
    `${groupText(view.entity, group, 'v0')} as key`,
    `${points} as points`,
    ...expressions.map(({ sql }, at) => `${sql} as s${at}`),
  ];
  const text = `with ${buildHitsSql(view, columns.join(', '), join, null, null, $)}
    select h.key, count(*)::int as count, sum(h.points)::int as estimate from hits h group by ${['h.key', ...places.map((place) => `h.${place}`)].join(', ')}
    order by ${[...places.map((place) => `h.${place} nulls last`), 'h.key'].join(', ')} limit ${MAX_GROUPS}`;
  return { statement: { name: '', text }, values: $.values };
}
