import { runAtOnce, type Statement } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { type DrainLimits, drainMarks } from './index-marks.js';
import type { SearchTerm } from './rules.js';
import { MAX_MARKS, settingsStatement } from './search-items.sql.js';

/** What one search may index first. */
const BEFORE_SEARCH: DrainLimits = { maxMarks: MAX_MARKS, maxMs: 150, lockTimeoutMs: 100 };

/** Indexes the marks of some teams. Returns whether marks remain; a failure counts as that, because the worker indexes them soon. */
async function indexFirst(ctx: Context, teams: string[]): Promise<boolean> {
  try {
    return (await drainMarks(ctx.db, teams, BEFORE_SEARCH)).behind;
  } catch (error) {
    ctx.log.warn({ err: error }, 'a search could not index marked items first');
    return true;
  }
}

/** A statement of search-items.sql.ts, with the parameters beside the common ones. */
export interface Search {
  statement: Statement;
  terms: SearchTerm[];
  /** Whether similar words count. */
  corrected: boolean;
  more: unknown[];
}

type SearchRow = Record<string, unknown> & { behind: string[]; is_deep: boolean };

/** Rows of a search, and whether recent changes of the caller's teams may be missing. */
export interface SearchRun<Row> {
  rows: Row[];
  indexing: boolean;
}

/**
 * Runs a search. If the caller's teams have marks, indexes them first, so that committed changes of single items are found. A team
 * with too many of them after a bulk change is searched as far as it is indexed, and `indexing` says so.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function runSearch<Row extends SearchRow>(ctx: Context, search: Search): Promise<SearchRun<Row>> {
  const attempt = async (despiteMarks: boolean): Promise<Row[]> => {
    const common = [requireUser(ctx), rolesFor('search.use'), JSON.stringify(search.terms), despiteMarks, search.corrected];
    const call = { statement: search.statement, values: [...common, ...search.more] };
    const [, rows] = await runAtOnce(ctx.db, [{ statement: settingsStatement, values: [] }, call]);
    return rows as Row[];
  };
  const rows = await attempt(false);
  const { behind = [], is_deep = false } = rows[0] ?? {};
  if (behind.length === 0) return { rows, indexing: is_deep };
  const remains = await indexFirst(ctx, behind);
  return { rows: await attempt(true), indexing: is_deep || remains };
}
