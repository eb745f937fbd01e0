import { Parameters } from '../../../db/statement-parameters.js';
import { type Call, defineStatement } from '../../../db/statement.js';
import { lowestIdAt, timeOfId } from '../../platform/ids.js';
import type { ExportFilters } from '../export-proof.js';
import { idTimes } from './filters.js';

/** Which entries are looked for, in which teams. */
export interface Search {
  teams: string[];
  filters: ExportFilters;
}

const EQUAL = ['user_id', 'ip_address', 'entity_id', 'correlation_id'] as const;
const KIND = ['feature', 'action', 'severity', 'entity_type'] as const;
const uuids: readonly string[] = ['user_id', 'correlation_id'];

/** Where the request of a correlation begins: nothing that it caused is older by more than clocks differ. */
const CLOCKS_DIFFER_MS = 86_400_000;

/** Returns the conditions on an entry of the team `t`; those on its kind only `withKind`. */
function conditions({ filters }: Search, $: Parameters, withKind: boolean): string {
  const { from, to } = idTimes(filters);
  const columns = withKind ? [...EQUAL, ...KIND] : EQUAL;
  const after = filters.correlation_id === undefined ? from : timeOfId(filters.correlation_id) - CLOCKS_DIFFER_MS;
  return [
    'e.team_id = t.team_id',
    ...columns.flatMap((name) => {
      const value = filters[name];
      return value === undefined ? [] : [`e.${name} = ${$.add(value, uuids.includes(name) ? 'uuid' : 'text')}`];
    }),
    ...(filters.from_time === undefined ? [] : [`e.timestamp >= ${$.add(filters.from_time, 'text')}`]),
    ...(filters.to_time === undefined ? [] : [`e.timestamp <= ${$.add(filters.to_time, 'text')}`]),
    ...(after === null ? [] : [`e.audit_id >= ${$.add(lowestIdAt(after), 'uuid')}`]),
    ...(to === null ? [] : [`e.audit_id < ${$.add(lowestIdAt(to), 'uuid')}`]),
  ].join(' and ');
}

/** Filters of the kind alone are answered from the index of kinds: one range of it, in the order of the time, for each kind that fits. */
export const byKind = ({ filters }: Search): boolean =>
  KIND.some((name) => filters[name] !== undefined) && EQUAL.every((name) => filters[name] === undefined);

const withoutKind = ({ feature: _f, action: _a, severity: _s, entity_type: _t, ...others }: ExportFilters): ExportFilters =>
  others;

const kindConditions = (row: string, { filters }: Search, $: Parameters): string[] =>
  KIND.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [`${row}.${name} = ${$.add(value, 'text')}`];
  });

/** The ranges of an index that hold the matching entries, each in the order of the time. */
function ranges(search: Search, $: Parameters): { places: string; where: string } {
  const teams = `unnest(${$.add(search.teams, 'uuid[]')}) as t(team_id)`;
  if (!byKind(search)) return { places: teams, where: conditions(search, $, true) };
  return {
    places: `${teams} cross join (select * from audit_kinds k where ${kindConditions('k', search, $).join(' and ')}) k`,
    where: `${KIND.map((name) => `e.${name} = k.${name}`).join(' and ')} and ${conditions(search, $, false)}`,
  };
}

/**
 * Returns the name of a statement with at most one filter and no bound of the time; none for the others. A connection keeps the plans of all
 * named statements, and the filters have thousands of combinations.
 */
function getName(prefix: string, { filters }: Search): string {
  const given = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const [only = 'all', ...others] = given;
  return others.length > 0 || only.endsWith('_time') ? '' : `${prefix}_${only}`;
}

/** Returns the statement that counts matching entries up to `max`. */
export function countQuery(search: Search, max: number): Call {
  const $ = new Parameters();
  const { places, where } = ranges(search, $);
  const end = $.add(max, 'bigint');
  const text = /* sql */ `
    select count(*)::int as total from (
      select from ${places} cross join lateral (select from audit_entries e where ${where} limit ${end}) e limit ${end}) x`;
  return { statement: { name: getName('audit_count', search), text }, values: $.values };
}

/** Which of the matching entries are read. */
export interface Window {
  limit: number;
  offset: number;
  /** Unsealed entries that may lie before the end of the window. */
  slack: number;
  oldestFirst?: boolean;
  /** Whether to look at the newest entries of any kind only. */
  walk?: boolean;
  /** Last sequence of each chain, in the order of the teams; later entries are left out. */
  heads?: number[];
}

/** An entry's place in its chain. */
export interface EntryKey {
  audit_id: string;
  team_id: string;
  sequence: number;
  entry_hash: Buffer;
}

/** Rows of the time index that are looked at before the ranges of the kinds, for each row that is wanted. */
const WALKED = 8;

/**
 * Returns the statement for the keys of matching entries in the order of the list. First the ids, from an index that has this order; then
 * their seals: without one an entry is not shown. `read` is the number of ids, so that the caller knows whether the slack was enough.
 * `walk`: looks at the newest entries of any kind only, which finds a frequent kind at once; a rare one may be incomplete.
 */
export function keysQuery(search: Search, { limit, offset, slack, walk, oldestFirst, heads }: Window): Call {
  const $ = new Parameters();
  const { places, where } = ranges(walk ? { ...search, filters: withoutKind(search.filters) } : search, $);
  const direction = oldestFirst ? 'asc' : 'desc';
  const order = (row: string): string => `order by ${row}.timestamp ${direction}, ${row}.audit_id ${direction}`;
  const end = limit + offset + slack;
  const range = /* sql */ `select ${walk ? 'e.*' : 'e.timestamp, e.audit_id'} from audit_entries e where ${where} ${order('e')}
    limit ${$.add(walk ? end * WALKED : end, 'bigint')}`;
  const upTo =
    heads &&
    `join unnest(${$.add(search.teams, 'uuid[]')}, ${$.add(heads, 'bigint[]')}) as h(chain, sequence)
      on h.chain = s.chain and s.sequence <= h.sequence`;
  const text = /* sql */ `
    with found as materialized (
      select c.timestamp, c.audit_id from ${places} cross join lateral (${range}) c
      ${walk ? `where ${kindConditions('c', search, $).join(' and ')}` : ''} ${order('c')}
      limit ${$.add(limit + slack, 'bigint')} offset ${$.add(offset, 'bigint')}
    )
    select f.audit_id, s.chain as team_id, s.sequence, s.entry_hash, (select count(*)::int from found) as read
    from found f cross join lateral (select * from audit_seals where audit_id = f.audit_id limit 1) s ${upTo ?? ''}
    ${order('f')} limit ${$.add(limit, 'bigint')}`;
  const name = oldestFirst || heads ? '' : getName(walk ? 'audit_walk' : 'audit_keys', search);
  return { statement: { name, text }, values: $.values };
}

const SEALED = /* sql */ `
    from unnest($1::uuid[], $2::uuid[]) with ordinality as k(id, team, place)
    cross join lateral (select * from audit_entries where audit_id = k.id limit 1) e
    cross join lateral (select * from audit_seals where audit_id = k.id limit 1) s
    cross join lateral (
      select e.audit_id, s.sequence, e.correlation_id, e.timestamp, e.team_id, e.user_id, e.user_email, e.actor_type, e.impersonator_id,
        e.token_id, e.ip_address, e.user_agent, e.feature, e.action, e.severity, e.outcome, e.entity_type, e.entity_id,
        case when e.details is json then e.details::json end as details, e.details as details_text,
        encode(s.prev_hash, 'hex') as prev_hash, encode(s.entry_hash, 'hex') as entry_hash
    ) x where e.team_id = k.team`;

/**
 * $1 = ids of entries, $2 = their teams. JSON of the sealed ones in the order of $1, one after the other with commas. `details` is the stored
 * text, which is unreadable only after tampering.
 */
export const recordsStatement = defineStatement({
  name: 'audit_records',
  text: /* sql */ `
    select string_agg(row_to_json(x)::text, ',' order by place) as records ${SEALED}`,
});

/** The same, but the bytes of each, and its place in $1 from 1. */
export const sizesStatement = defineStatement({
  name: 'audit_sizes',
  text: /* sql */ `select place::int, octet_length(row_to_json(x)::text) as bytes ${SEALED} order by place`,
});

/** $1 = chains. Their last sequences and hashes, in the order of $1; 0 without an entry. */
export const headsStatement = defineStatement({
  name: 'audit_heads_of',
  text: /* sql */ `
    select c.chain, coalesce(h.sequence, 0) as sequence, coalesce(h.entry_hash, decode(repeat('00', 32), 'hex')) as entry_hash
    from unnest($1::uuid[]) with ordinality as c(chain, place) left join audit_heads h using (chain) order by place`,
});
