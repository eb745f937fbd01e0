import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { readView } from '../read-view.js';
import type { ViewGroup } from '../schema.js';
import { groupsCall } from './query.sql.js';
import { type Resolution, resolveView, type ViewSource } from './resolve-view.js';

/** The groups of a view's results, and whether the search index is behind or cut what the words match. */
export interface CountedGroups extends Pick<Resolution, 'indexing' | 'capped'> {
  groups: ViewGroup[];
}

/**
 * Counts what passes the filters of a view, saved or not, by its groups, in their order; at most 1,000 groups.
 * @throws INVALID_REQUEST a view without group_by | RESOURCE_CONFLICT a filter that does not exist
 */
export async function countGroups(ctx: Context, source: ViewSource): Promise<CountedGroups> {
  if (source.group_by === null) throw invalid('The view has no group_by');
  const { view, indexing, capped } = await resolveView(ctx, source);
  if (view.group === null) throw new Error('A view with group_by has no group');
  const { statement, values } = groupsCall(view, view.group);
  type Row = Omit<ViewGroup, 'estimate'> & { estimate: number | null };
  const rows = await run<Row & Record<string, unknown>>(ctx.db, statement, values);
  const groups = rows.map(({ estimate, ...group }) => (estimate === null ? group : { ...group, estimate }));
  return { groups, indexing, capped };
}

/**
 * Counts the results of a saved view by its groups, as `countGroups`.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | INVALID_REQUEST a view without group_by | RESOURCE_CONFLICT a stored filter no
 * longer exists
 */
export async function listGroups(ctx: Context, viewId: string): Promise<CountedGroups> {
  return countGroups(ctx, await readView(ctx, viewId));
}
