import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { readView } from '../read-view.js';
import { MAX_RESULTS } from '../rules.js';
import type { ListResults } from '../schema.js';
import { resultsCall } from './query.sql.js';
import { resolveView, type ViewSource } from './resolve-view.js';

/** Maximum bytes of a page; the next one goes on behind. */
const MAX_BYTES = 512 * 1024;

/**
 * Returns a page of what passes the filters of a view, saved or not, of what the caller may read. Pages end at 10,000 rows, and after half a
 * megabyte.
 * @throws RESOURCE_CONFLICT a filter that does not exist
 */
export async function listMatches(ctx: Context, source: ViewSource, { limit, offset }: ListResults): Promise<CutPage> {
  const { view, indexing, capped } = await resolveView(ctx, source);
  const wanted = Math.max(0, Math.min(limit, MAX_RESULTS - offset));
  const { statement, values } = resultsCall(view, {
    limit: wanted + 1,
    offset: Math.min(offset, MAX_RESULTS),
    maxBytes: Math.min(MAX_BYTES, ctx.config.LIST_MAX_BYTES),
  });
  const [found] = await run<{ count: number; read: number; records: string | null }>(ctx.db, statement, values);
  const { count = 0, read = 0, records = null } = found ?? {};
  const [more, isEnd] = [count > read, offset + read >= MAX_RESULTS];
  return {
    body: `[${records ?? ''}]`,
    count: read,
    more: more && !isEnd,
    truncated: (more && isEnd) || capped,
    ...(indexing && { headers: { 'X-Search-Indexing': 'true' } }),
  };
}

/**
 * Returns a page of a saved view's results, as `listMatches`.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | RESOURCE_CONFLICT a stored filter no longer exists
 */
export async function listResults(ctx: Context, viewId: string, page: ListResults): Promise<CutPage> {
  return listMatches(ctx, await readView(ctx, viewId), page);
}
