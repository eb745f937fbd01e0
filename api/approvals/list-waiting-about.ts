import { run } from '../../db/statement.js';
import { isAdmitted, rolesFor } from '../platform/access/access.js';
import { type Context, requireUser } from '../platform/context.js';
import type { Waiting } from './list-decisions.js';
import { DECISION_KINDS } from './schema.js';
import { waitingAboutStatement } from './waiting-about.sql.js';

/**
 * Returns what waits for a yes and would change or concerns one of the tasks, nearest deadline first, as far as the caller may read both. One query, of which
 * no task reads more than a bounded part.
 */
export async function listWaitingAbout(
  ctx: Context,
  taskIds: readonly string[],
  limit: number,
): Promise<(Waiting & { task_id: string })[]> {
  if (taskIds.length === 0) return [];
  // Who acts as another person reads their runs and plans, but no change request.
  const kinds = DECISION_KINDS.filter((kind) => kind !== 'request' || isAdmitted('request.read', ctx.actor));
  const values = [requireUser(ctx), taskIds, rolesFor('automation.read'), rolesFor('plan.decide'), kinds, limit];
  return run<Waiting & { task_id: string }>(ctx.db, waitingAboutStatement, values);
}
