import { run } from '../../../../db/statement.js';
import { type Seat, isAllowed } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { sizeStatement } from './occurrence-tree.sql.js';
import { MAX_TREE } from './rules.js';

interface Size extends Record<string, unknown> {
  recurs: boolean;
  seat: Seat | null;
  size: number | null;
}

/**
 * Rejects a recurrence on a task with too many descendants. A recurring task may exceed the limit later; its occurrences are then
 * truncated. Ignores a task that the caller may not change, because the update itself is rejected.
 * @throws INVALID_REQUEST
 */
export async function checkTreeSize(ctx: Context, taskId: string): Promise<void> {
  const [task] = await run<Size>(ctx.db, sizeStatement, [taskId, requireUser(ctx)]);
  if (!task || task.recurs || !isAllowed('task.write', task.seat)) return;
  if ((task.size ?? 0) > MAX_TREE) {
    throw invalid(`A task with more than ${(MAX_TREE - 1).toLocaleString('en')} descendants cannot recur`);
  }
}
