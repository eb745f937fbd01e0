import type { QueryResultRow } from 'pg';
import { type Call, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { isStatementTimeout } from '../../platform/database/database-errors.js';
import { invalid } from '../../platform/errors.js';
import {
  byKind,
  countQuery,
  type EntryKey,
  keysQuery,
  recordsStatement,
  type Search,
  sizesStatement,
  type Window,
} from './entries.sql.js';

/**
 * Runs a search. Several filters that are frequent each, but hardly ever together, may take too long in a large log.
 * @throws INVALID_REQUEST if it does
 */
async function search<Row extends QueryResultRow>({ db }: Context, { statement, values }: Call): Promise<Row[]> {
  try {
    return await run<Row>(db, statement, values);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw invalid('The search took too long', { detail: 'Narrow it by from_time and to_time, or by entity_id.', cause: error });
  }
}

/** Returns the number of matching entries, at most `max`. @throws INVALID_REQUEST if that takes too long */
export async function countEntries(ctx: Context, wanted: Search, max: number): Promise<number> {
  const [row] = await search<{ total: number }>(ctx, countQuery(wanted, max));
  return row?.total ?? 0;
}

type FoundKey = EntryKey & { read: number };
const getKey = ({ read: _read, ...key }: FoundKey): EntryKey => key;

/** Pages near the start of the list: a frequent kind is found among the newest entries, for less than what its ranges cost. */
const MAX_WALK = 600;
/** Entries that were committed after the chains were sealed, and may lie before the end of a window; more if that was not enough. */
const SLACKS = [100, 1_000, 10_000];

/**
 * Returns the keys of the matching entries within the window, newest first unless it says otherwise. Only sealed ones count.
 * @throws INVALID_REQUEST if that takes too long
 */
export async function findEntries(ctx: Context, wanted: Search, window: Omit<Window, 'slack' | 'walk'>): Promise<EntryKey[]> {
  let keys: EntryKey[] = [];
  if (byKind(wanted) && window.limit + window.offset <= MAX_WALK && !window.oldestFirst) {
    const rows = await search<FoundKey>(ctx, keysQuery(wanted, { ...window, slack: 0, walk: true }));
    if (rows.length === window.limit) return rows.map(getKey);
  }
  for (const slack of SLACKS) {
    const rows = await search<FoundKey>(ctx, keysQuery(wanted, { ...window, slack }));
    keys = rows.map(getKey);
    if (keys.length === window.limit || (rows[0]?.read ?? 0) < window.limit + slack) break;
  }
  return keys;
}

/** Returns the JSON of entries in this order, one after the other with commas. */
export async function readRecords({ db }: Context, keys: readonly EntryKey[]): Promise<string> {
  if (keys.length === 0) return '';
  const values = [keys.map(({ audit_id }) => audit_id), keys.map(({ team_id }) => team_id)];
  const [row] = await run<{ records: string | null }>(db, recordsStatement, values);
  return row?.records ?? '';
}

/** Entries whose sizes are read at once. */
const SIZES_AT_ONCE = 100;

/** Returns the first entries whose JSON has at most this size: at least one. */
export async function withinBytes({ db }: Context, keys: EntryKey[], maxBytes: number): Promise<EntryKey[]> {
  let bytes = 0;
  for (let at = 0; at < keys.length; at += SIZES_AT_ONCE) {
    const chunk = keys.slice(at, at + SIZES_AT_ONCE);
    const values = [chunk.map(({ audit_id }) => audit_id), chunk.map(({ team_id }) => team_id)];
    const sizes = await run<{ place: number; bytes: number }>(db, sizesStatement, values);
    const end = sizes.find((entry) => (bytes += entry.bytes + ','.length) > maxBytes);
    if (end) return keys.slice(0, Math.max(1, at + end.place - 1));
  }
  return keys;
}

/** Entries of a chunk: about 400 kB, and some megabytes where each one holds long texts. */
const CHUNK = 500;

/**
 * Streams the entries of a JSON array, without its brackets. Each chunk is a statement of its own, so that a slow reader occupies no
 * connection; the next one is read while one is sent. An error aborts the response: its status is already sent.
 */
export async function* streamRecords(ctx: Context, keys: readonly EntryKey[]): AsyncGenerator<string> {
  const start = (at: number): Promise<string> => {
    const chunk = readRecords(ctx, keys.slice(at, at + CHUNK));
    // If the client stops reading, nothing awaits this promise; otherwise its error surfaces when it is awaited.
    chunk.catch(() => undefined);
    return chunk;
  };
  let next = start(0);
  for (let at = 0; at < keys.length; at += CHUNK) {
    const text = await next.catch((cause: unknown) => {
      ctx.log.error({ err: cause }, 'Audit entries broke off');
      // `expose` keeps Koa from printing it again.
      throw Object.assign(new Error('The entries were interrupted', { cause }), { expose: true });
    });
    next = start(at + CHUNK);
    yield at === 0 ? text : `,${text}`;
  }
}
