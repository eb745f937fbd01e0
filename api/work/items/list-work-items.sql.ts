import { defineStatement, type Statement } from '../../../db/statement.js';
import type { ItemType } from '../graph/item-place.js';
import type { StoredType } from './rules.js';
import { type RelatedFilter, relatedIds } from './named-items.sql.js';
import { Parameters } from '../../../db/statement-parameters.js';
import { FOUND_RECORD, recordsById } from './work-item.sql.js';

/** Filters of a list; null = not given. */
export interface WorkItemFilters {
  type: ItemType | null;
  team_id: string | null;
  project_id: string | null;
  status: string | null;
  updated_since: string | null;
  related: RelatedFilter | null;
  /** Ids that a search found. */
  found: string[] | null;
}

/** Which rows of the ordered list are read. */
export interface Page {
  limit: number;
  offset: number;
}

/** A table of the union, with its columns. `status` and `type` are filtered inside, where the limit counts. */
interface Branch {
  types: readonly ItemType[];
  table: string;
  id: string;
  row: string;
}
const STORED: readonly StoredType[] = ['note', 'file', 'whiteboard', 'doc'];
const BRANCHES: readonly Branch[] = [
  { types: ['task'], table: 'tasks', row: 't', id: 't.task_id' },
  { types: STORED, table: 'items', row: 'i', id: 'i.item_id' },
  { types: ['project'], table: 'projects', row: 'p', id: 'p.project_id' },
];

/** Conditions on the rows of one table, beside their place. */
function buildConditions({ table, row }: Branch, filters: WorkItemFilters, $: Parameters): string {
  return [
    `${row}.deleted_at is null`,
    ...(table === 'items' && filters.type !== null ? [`${row}.item_type = ${$.add(filters.type, 'text')}`] : []),
    ...(filters.status === null ? [] : [`${row}.status = ${$.add(filters.status, 'text')}`]),
    ...(filters.updated_since === null ? [] : [`${row}.updated_at >= ${$.add(filters.updated_since, 'timestamptz')}`]),
  ].join(' and ');
}

const keyColumns = ({ types, table, row, id }: Branch): string =>
  `${id}::text as id, ${table === 'items' ? `${row}.item_type` : `'${types[0]}'`} as type, ${row}.created_at`;

/** Column that names the place: the team, or the project that the list is about. */
const getPlace = ({ project_id }: WorkItemFilters): string => (project_id === null ? 'team_id' : 'project_id');

/** Keys of one table in one place, in the order of an index on (place, created_at, id): without a filter the table itself is not read. */
function keysInPlace(branch: Branch, filters: WorkItemFilters, $: Parameters, limit: string): string {
  const { table, row, id } = branch;
  const place = getPlace(filters);
  return `(select ${keyColumns(branch)} from ${table} ${row}
      where ${row}.${place} = place.${place} and ${buildConditions(branch, filters, $)} order by ${row}.created_at, ${id} limit ${limit})`;
}

/** Keys of the items of one table that another filter has named: each is looked up by its id, wherever it is. */
function namedKeys(branch: Branch, filters: WorkItemFilters, $: Parameters): string {
  const { table, row, id } = branch;
  const place = getPlace(filters);
  return `select x.* from named cross join lateral (
      select ${keyColumns(branch)} from ${table} ${row} where ${id}${table === 'projects' ? '::text' : ''} = named.id
        and (${row}.${place} in (select places.${place} from places where places.seat is not null)) is true and ${buildConditions(branch, filters, $)} limit 1
    ) x`;
}

/** The teams, or the one project, that the list is about, with the caller's role in it. */
function buildPlacesSql({ team_id, project_id }: WorkItemFilters, userId: string, $: Parameters): string {
  const user = $.add(userId, 'uuid');
  if (project_id !== null) {
    return `select p.project_id, (select m.role from memberships m where m.team_id = p.team_id and m.user_id = ${user}) as seat
      from projects p where p.project_id = ${$.add(project_id, 'uuid')} and p.deleted_at is null`;
  }
  const team = team_id === null ? '' : ` and m.team_id = ${$.add(team_id, 'uuid')}`;
  return `select m.team_id, m.role as seat from memberships m where m.user_id = ${user}${team}`;
}

/** Ids that a relation, a search or both name; null without such a filter. */
function namedIds({ related, found }: WorkItemFilters, userId: string, $: Parameters): string | null {
  const searched = found && `select searched.id from unnest(${$.add(found, 'text[]')}) as searched(id)`;
  const connected = related && relatedIds(related, userId, $);
  return searched && connected ? `select c.id from (${connected}) c where c.id in (${searched})` : (searched ?? connected);
}

/**
 * Keys of a page in order, of all places and tables. A filter that names items by their ids, such as a relation, replaces the walk along the
 * indexes: `named` holds its ids.
 */
function keys(filters: WorkItemFilters, userId: string, { limit, offset }: Page, $: Parameters): string {
  const places = `places as materialized (${buildPlacesSql(filters, userId, $)})`;
  const tables = BRANCHES.filter(({ types }) => filters.type === null || types.includes(filters.type));
  const window = `limit ${$.add(limit, 'bigint')} offset ${$.add(offset, 'bigint')}`;
  const named = namedIds(filters, userId, $);
  if (named !== null) {
    const found = tables.map((table) => namedKeys(table, filters, $)).join(' union all ');
    return /* sql */ `${places}, named as materialized (${named}),
      keys as materialized (select key.* from (${found}) key order by key.created_at, key.id ${window})`;
  }
  const end = `(select ${$.add(limit + offset, 'bigint')})`;
  const found = tables.map((table) => keysInPlace(table, filters, $, end)).join(' union all ');
  return /* sql */ `${places}, keys as materialized (
    select key.* from places place cross join lateral (select * from (${found}) x order by x.created_at, x.id limit ${end}) key
    where place.seat is not null order by key.created_at, key.id ${window}
  )`;
}

/** The filters that change a statement's text, as part of its name: a name belongs to one text. */
const getName = (
  prefix: string,
  { type, team_id, project_id, status, updated_since, related, found }: WorkItemFilters,
): string => {
  const table = type === null ? 'all' : STORED.some((one) => one === type) ? 'stored' : type;
  const place = project_id !== null ? 'project' : team_id !== null ? 'team' : 'teams';
  const filters = { status, since: updated_since, related, found };
  const given = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [name]));
  return [prefix, table, place, ...given].join('_');
};

interface Query {
  statement: Statement;
  values: unknown[];
}

/** Ids and types of a page, one line each. */
export function keysQuery(filters: WorkItemFilters, userId: string, page: Page): Query {
  const $ = new Parameters();
  const text = /* sql */ `with ${keys(filters, userId, page, $)}
    select string_agg(k.id, e'\\n') as ids, string_agg(k.type, e'\\n') as types
    from (select * from keys order by created_at, id) k`;
  return { statement: { name: getName('work_item_keys', filters), text }, values: $.values };
}

/** Maximum bytes of the records that are read with the keys. */
const MAX_AT_ONCE_BYTES = 512 * 1024;

/**
 * Number of places and the role in the first; number of rows of a page, with the ids and records of all but its last row: that one only tells
 * that more follow. Ids come one a line, records separated by commas; those beyond the first half megabyte are left out.
 */
export function recordsQuery(filters: WorkItemFilters, userId: string, page: Page): Query {
  const $ = new Parameters();
  const text = /* sql */ `with ${keys(filters, userId, page, $)}
    select (select count(*)::int from places) as places, (select min(seat) from places) as seat,
      (select count(*)::int from keys) as count, string_agg(r.id, e'\\n') as ids, string_agg(r.record, ',') as records
    from (
      select f.id, f.record, sum(octet_length(f.record)) over (rows unbounded preceding) as bytes from (
        select k.id, ${FOUND_RECORD}::text as record
        from (select * from keys order by created_at, id limit ${$.add(page.limit - 1, 'bigint')}) k ${recordsById('k.id', 'k.type')}
        order by k.created_at, k.id limit ${$.add(page.limit - 1, 'bigint')}
      ) f
    ) r where r.bytes <= ${MAX_AT_ONCE_BYTES}`;
  return { statement: { name: getName('list_work_items', filters), text }, values: $.values };
}

/**
 * $1 = item ids, $2 = their types, $3 = caller id. Records of the items that still exist and that the caller may still read, in the order
 * of $1.
 */
export const someRecordsStatement = defineStatement({
  name: 'work_item_records',
  text: /* sql */ `
    select count(${FOUND_RECORD})::int as count, string_agg(${FOUND_RECORD}::text, ',' order by k.place) as records
    from unnest((select $1::text[]), (select $2::text[])) with ordinality as k(id, type, place) ${recordsById('k.id', 'k.type')}
    where (coalesce(task.team_id, project.team_id, item.team_id) in (select m.team_id from memberships m where m.user_id = $3)) is true`,
});
