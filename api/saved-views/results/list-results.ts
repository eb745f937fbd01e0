import { run } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import type { CutPage } from '../../endpoint/endpoint.js';
import { readView } from '../read-view.js';
import { MAX_RESULTS } from '../rules.js';
import type { ListResults } from '../schema.js';
import { resultsCall } from './query.sql.js';
import { resolveView } from './resolve-view.js';

/**
 * Returns a page of a view's results: what passes its filters, of what the caller may read. Pages end at 10,000 rows.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | RESOURCE_CONFLICT a stored filter no longer exists
 */
export async function listResults(ctx: Context, viewId: string, { limit, offset }: ListResults): Promise<CutPage> {
  const { view, indexing, capped } = await resolveView(ctx, await readView(ctx, viewId));
  const wanted = Math.max(0, Math.min(limit, MAX_RESULTS - offset));
  const { statement, values } = resultsCall(view, { limit: wanted + 1, offset: Math.min(offset, MAX_RESULTS) });
  const [found] = await run<{ count: number; records: string | null }>(ctx.db, statement, values);
  const count = found?.count ?? 0;
  const more = count > wanted;
  return {
    body: `[${found?.records ?? ''}]`,
    count: Math.min(count, wanted),
    more: more && offset + wanted < MAX_RESULTS,
    truncated: (more && offset + wanted >= MAX_RESULTS) || capped,
    ...(indexing && { headers: { 'X-Search-Indexing': 'true' } }),
  };
}
