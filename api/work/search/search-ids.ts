import type { Context } from '../../platform/context.js';
import { findNamedTasks, parseTaskName } from './named-tasks.js';
import { parseQuery } from './rules.js';
import { runSearch } from './run-search.js';
import { searchIdsStatement } from './search-items.sql.js';

/** Ids of matching items in no order. */
export interface FoundIds {
  ids: string[];
  /** More items may match than the maximum. */
  capped: boolean;
  /** Recent changes of the caller's teams may be missing. */
  indexing: boolean;
}

type Row = Record<string, unknown> & { behind: string[]; is_deep: boolean; ids: string[] };

/**
 * Finds indexed items of the caller's teams for a list with an order of its own, without similar words, and tasks that are called like the query. An id may belong to an item that is
 * in the trash by now, so the list reads live rows.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function searchIds(ctx: Context, query: string, limit: number): Promise<FoundIds> {
  const search = { statement: searchIdsStatement, terms: parseQuery(query), corrected: false, more: [limit] };
  const name = parseTaskName(query);
  const named = name === null ? [] : await findNamedTasks(ctx, name);
  const { rows, indexing } = await runSearch<Row>(ctx, search);
  const ids = rows[0]?.ids ?? [];
  return { ids: [...new Set([...named.map(({ item_id }) => item_id), ...ids])], capped: ids.length === limit, indexing };
}
