import { run } from '../../db/statement.js';
import { rolesFor } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { withSearch } from './prepare-search.js';
import { parseQuery } from './rules.js';
import { searchIdsStatement } from './search-items.sql.js';

/** Ids of matching items in no order. */
export interface FoundIds {
  ids: string[];
  /** More items may match than the maximum. */
  capped: boolean;
  /** Recent changes of the caller's teams may be missing. */
  indexing: boolean;
}

/**
 * Finds indexed items of the caller's teams for a list with an order of its own, without corrections. An id may belong to an item that is
 * in the trash by now, so the list reads live rows.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export function searchIds(ctx: Context, query: string, limit: number): Promise<FoundIds> {
  return withSearch(ctx, parseQuery(query), async (prepared) => {
    if (prepared.query === '') return { ids: [], capped: false, indexing: prepared.indexing };
    const values = [userOf(ctx), rolesFor('search.use'), prepared.query, limit];
    const rows = await run<{ item_id: string }>(prepared.db, searchIdsStatement, values);
    return { ids: rows.map(({ item_id }) => item_id), capped: rows.length === limit, indexing: prepared.indexing };
  });
}
