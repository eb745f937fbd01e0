import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockCycle, readCycle } from '../read-cycle.js';
import { moveTasks } from './move-tasks.js';
import { lockTasksStatement } from './tasks-of-cycle.sql.js';

/**
 * Takes a task out of a planned or active cycle.
 * @throws RESOURCE_NOT_FOUND no such cycle, or the task is not in it | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT
 * completed
 */
export function removeTaskFromCycle(ctx: Context, cycleId: string, taskId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id } = await readCycle(ctx, 'cycle.write', cycleId);
    const { status } = await lockCycle(ctx, cycleId);
    const [task] = await run<{ task_id: string; cycle_id: string | null }>(ctx.db, lockTasksStatement, [[taskId], team_id]);
    authorize('cycle.write', await findSeat(ctx, team_id));
    if (task?.cycle_id !== cycleId) throw notFound('Task', { detail: 'The task is not in this cycle' });
    if (status === 'completed') throw conflict('The cycle is completed; its tasks cannot change');
    await moveTasks(ctx, [taskId], { team_id, to: null });
  });
}
