import type { Knex } from 'knex';
import { run } from '../../db/statement.js';
import { rolesFor } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { type DrainLimits, drainMarks } from './index-marks.js';
import type { SearchTerm } from './rules.js';
import { prepareStatement } from './search-items.sql.js';

/** What one search may index first: what single writes leave behind, not a bulk import. */
const BEFORE_SEARCH: DrainLimits = { maxMarks: 500, maxMs: 150, patienceMs: 100 };

interface Prepared extends Record<string, unknown> {
  query: string;
  behind: string[];
}

/** Indexes the marks of some teams. Returns whether marks remain; a failure counts as that, because the worker indexes them soon. */
async function indexFirst(ctx: Context, teams: string[]): Promise<boolean> {
  try {
    return (await drainMarks(ctx.db, teams, BEFORE_SEARCH)).behind;
  } catch (error) {
    ctx.log.warn({ err: error }, 'a search could not index marked items first');
    return true;
  }
}

/** The index as a search finds it. */
export interface SearchRun {
  /** The search's transaction, with a time limit and plans for its words. */
  db: Knex;
  /** The query as PostgreSQL text; empty if nothing can match. */
  query: string;
  /** Recent changes of the caller's teams may be missing. */
  indexing: boolean;
}

/**
 * Indexes what the caller's teams have marked, then calls `search` in a transaction of its own. Committed changes of single items are
 * found; after a bulk change `indexing` tells that some are not yet.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function withSearch<T>(ctx: Context, terms: SearchTerm[], search: (prepared: SearchRun) => Promise<T>): Promise<T> {
  const attempt = (indexing: boolean | undefined): Promise<{ behind: string[] } | { result: T }> =>
    ctx.db.transaction(async (db) => {
      const values = [userOf(ctx), rolesFor('search.use'), JSON.stringify(terms)];
      const [prepared] = await run<Prepared>(db, prepareStatement, values);
      const { query, behind } = prepared as Prepared;
      if (indexing === undefined && behind.length > 0) return { behind };
      return { result: await search({ db, query, indexing: indexing ?? false }) };
    });
  const first = await attempt(undefined);
  if ('result' in first) return first.result;
  const second = await attempt(await indexFirst(ctx, first.behind));
  if ('result' in second) return second.result;
  throw new Error('A prepared search returned no result');
}
