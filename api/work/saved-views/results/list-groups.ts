import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { readView } from '../read-view.js';
import type { ViewGroup } from '../schema.js';
import { groupsCall } from './query.sql.js';
import { type Resolution, resolveView } from './resolve-view.js';

/** The groups of a view's results, and whether the search index is behind or cut what the words match. */
export interface CountedGroups extends Pick<Resolution, 'indexing' | 'capped'> {
  groups: ViewGroup[];
}

/**
 * Counts the results of a view by its groups, in their order; at most 1,000 groups.
 * @throws RESOURCE_NOT_FOUND no such view, or not visible | INVALID_REQUEST a view without group_by | RESOURCE_CONFLICT a stored filter no
 * longer exists
 */
export async function listGroups(ctx: Context, viewId: string): Promise<CountedGroups> {
  const stored = await readView(ctx, viewId);
  if (stored.group_by === null) throw invalid('The view has no group_by');
  const { view, indexing, capped } = await resolveView(ctx, stored);
  if (view.group === null) throw new Error('A view with group_by has no group');
  const { statement, values } = groupsCall(view, view.group);
  return { groups: await run<ViewGroup & Record<string, unknown>>(ctx.db, statement, values), indexing, capped };
}
