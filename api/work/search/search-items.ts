import type { Context } from '../../platform/context.js';
import type { ItemType } from '../graph/item-place.js';
import { findNamedTasks, parseTaskName } from './named-tasks.js';
import { literalMatch, markLiterally, mayHoldTypos, parseQuery, type SearchTerm, snippetHtml, withShortTypos } from './rules.js';
import { runSearch, type SearchRun } from './run-search.js';
import { MAX_TOTAL, searchStatement } from './search-items.sql.js';
import type { SearchResult, SearchResults } from './schema.js';

/** With fewer hits a search also looks for similar words. */
const FEW_HITS = 3;

interface Row extends Record<string, unknown> {
  behind: string[];
  is_deep: boolean;
  total: number;
  item_type: ItemType;
  /** Null in the one row of an empty result. */
  item_id: string | null;
  title: string;
  status: string;
  project_id: string | null;
  project_name: string | null;
  team_id: string;
  team_name: string;
  score: number;
  updated_at: Date;
  snippet: string;
}

/** Runs the search statement. */
const find = (ctx: Context, terms: SearchTerm[], limit: number, corrected: boolean): Promise<SearchRun<Row>> =>
  runSearch<Row>(ctx, { statement: searchStatement, terms, corrected, more: [limit, literalMatch(terms)] });

/**
 * Searches for the query, and once more with similar words of the caller’s teams if it has few hits and words that may hold a typo: short ones
 * only if nothing has been found, so that no search that finds something becomes slower by them.
 */
async function findWithTypos(ctx: Context, terms: SearchTerm[], limit: number): Promise<SearchRun<Row>> {
  const exact = await find(ctx, terms, limit, false);
  const total = exact.rows[0]?.total ?? 0;
  const doubted = total === 0 ? withShortTypos(terms) : terms;
  if (total >= FEW_HITS || !mayHoldTypos(doubted)) return exact;
  const corrected = await find(ctx, doubted, limit, true);
  return { rows: corrected.rows, indexing: exact.indexing || corrected.indexing };
}

const present = (row: Row, literal: string | null): SearchResult => ({
  item_type: row.item_type,
  item_id: row.item_id as string,
  title: row.title,
  snippet: snippetHtml(literal === null ? row.snippet : markLiterally(row.snippet, literal)),
  project_id: row.project_id,
  project_name: row.project_name,
  team_id: row.team_id,
  team_name: row.team_name,
  status: row.status,
  score: Number(row.score.toPrecision(6)),
  updated_at: row.updated_at.toISOString(),
});

/** Returns the tasks that people call by the query, `HAR-12`. */
async function findByName(ctx: Context, query: string): Promise<SearchResult[]> {
  const name = parseTaskName(query);
  const found = name === null ? [] : await findNamedTasks(ctx, name);
  return found.map(({ updated_at, ...task }) => ({
    item_type: 'task',
    ...task,
    snippet: '',
    score: 1,
    updated_at: updated_at.toISOString(),
  }));
}

/**
 * Searches live items of the caller's teams, best first; a task that is called like the query comes before all. Changes committed before the call are found, except those of a bulk change that
 * is still being indexed (`indexing`).
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function searchItems(ctx: Context, { query, limit }: { query: string; limit: number }): Promise<SearchResults> {
  const terms = parseQuery(query);
  const named = await findByName(ctx, query);
  const { rows, indexing } = await findWithTypos(ctx, terms, limit);
  const literal = literalMatch(terms);
  const found = rows.filter(({ item_id }) => item_id !== null).map((row) => present(row, literal));
  const others = found.filter(({ item_id }) => !named.some((task) => task.item_id === item_id));
  const results = [...named, ...others].slice(0, limit);
  const total = (rows[0]?.total ?? 0) + named.length - (found.length - others.length);
  return {
    query,
    results,
    total: Math.min(total, MAX_TOTAL),
    ...(total > MAX_TOTAL && { total_capped: true as const }),
    showing: results.length,
    ...(indexing && { indexing: true as const }),
  };
}
