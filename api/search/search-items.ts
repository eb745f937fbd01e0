import type { Knex } from 'knex';
import { run } from '../../db/statement.js';
import { rolesFor } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import type { ItemType } from '../graph/item-place.js';
import { withSearch } from './prepare-search.js';
import { literalMatch, markLiterally, mayHoldTypos, parseQuery, type SearchTerm, snippetHtml } from './rules.js';
import { correctStatement, MAX_TOTAL, searchStatement } from './search-items.sql.js';
import type { SearchResult, SearchResults } from './schema.js';

/** With fewer hits a search also looks for similar words. */
const FEW_HITS = 3;

interface Row extends Record<string, unknown> {
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

interface Found {
  total: number;
  rows: Row[];
}

interface Query {
  query: string;
  /** The query without corrections; null if it has none. */
  exact: string | null;
}

/** Runs the search statement once. */
async function find(ctx: Context, db: Knex, terms: SearchTerm[], { query, exact }: Query, limit: number): Promise<Found> {
  const values = [userOf(ctx), rolesFor('search.use'), query, limit, exact, literalMatch(terms)];
  const rows = await run<Row>(db, searchStatement, values);
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ item_id }) => item_id !== null) };
}

/**
 * Searches for the query, and once more with similar words if it has few hits and a word that may hold a typo. The second search runs
 * whether or not similar words exist: its time must not tell which words other teams use.
 */
async function findWithTypos(ctx: Context, db: Knex, terms: SearchTerm[], query: string, limit: number): Promise<Found> {
  const found = await find(ctx, db, terms, { query, exact: null }, limit);
  if (found.total >= FEW_HITS || !mayHoldTypos(terms)) return found;
  const [corrected] = await run<{ query: string }>(db, correctStatement, [JSON.stringify(terms)]);
  return find(ctx, db, terms, { query: corrected?.query ?? query, exact: query }, limit);
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

/**
 * Searches live items of the caller's teams, best first. Changes committed before the call are found, except those of a bulk change that
 * is still being indexed (`indexing`).
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function searchItems(ctx: Context, { query, limit }: { query: string; limit: number }): Promise<SearchResults> {
  const terms = parseQuery(query);
  return withSearch(ctx, terms, async (prepared) => {
    const nothing: Found = { total: 0, rows: [] };
    const { total, rows } = prepared.query === '' ? nothing : await findWithTypos(ctx, prepared.db, terms, prepared.query, limit);
    const results = rows.map((row) => present(row, literalMatch(terms)));
    return {
      query,
      results,
      total: Math.min(total, MAX_TOTAL),
      ...(total > MAX_TOTAL && { total_capped: true as const }),
      showing: results.length,
      ...(prepared.indexing && { indexing: true as const }),
    };
  });
}
