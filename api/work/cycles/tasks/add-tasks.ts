import { run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, forbidden, invalid, notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockCycle, readCycle, findRecord } from '../read-cycle.js';
import { mayHold } from '../rules.js';
import type { Cycle } from '../schema.js';
import { moveTasks } from './move-tasks.js';
import { lockTasksStatement, tasksToAddStatement } from './tasks-of-cycle.sql.js';

interface FoundTask {
  task_id: string;
  team_id: string;
  project_id: string;
}

/** @throws RESOURCE_NOT_FOUND unknown tasks | PERMISSION_DENIED tasks of teams without a role | INVALID_REQUEST of another place */
function checkTasks(
  cycle: Pick<Cycle, 'team_id' | 'project_id'>,
  ids: string[],
  found: (FoundTask & { seat?: Seat | null })[],
): void {
  const known = new Set(found.map(({ task_id }) => task_id));
  const missing = ids.findIndex((id) => !known.has(id));
  if (missing >= 0) throw notFound('Task', { detail: `No live task has the id in task_ids[${missing}]` });
  if (found.some(({ seat }) => seat === null)) throw forbidden('You are not a member of this team');
  const strange = found.find((task) => !mayHold(cycle, task));
  if (!strange) return;
  const place = cycle.project_id === null ? 'team' : 'team and project';
  throw invalid(`Every task must be of the ${place} of the cycle`, { detail: `The task ${strange.task_id} is not` });
}

/**
 * Adds tasks to a planned or active cycle, all or none. A task is in one cycle, so it leaves the one where it was; one that is there
 * already stays as it is. Returns the cycle.
 * @throws RESOURCE_NOT_FOUND cycle or task | PERMISSION_DENIED | INVALID_REQUEST tasks of another team, or project | RESOURCE_CONFLICT
 * completed, or too many tasks
 */
export function addTasksToCycle(ctx: Context, cycleId: string, taskIds: string[]): Promise<Cycle> {
  const ids = [...new Set(taskIds)];
  return inTransaction(ctx, async (ctx) => {
    const cycle = await readCycle(ctx, 'cycle.write', cycleId);
    checkTasks(
      cycle,
      taskIds,
      await run<FoundTask & { seat: Seat | null }>(ctx.db, tasksToAddStatement, [ids, requireUser(ctx)]),
    );
    const { status, team_id } = await lockCycle(ctx, cycleId);
    if (status === 'completed') throw conflict('The cycle is completed; its tasks cannot change');
    // Under the lock: a task may have moved or gone to the trash in between.
    checkTasks(cycle, taskIds, await run<FoundTask>(ctx.db, lockTasksStatement, [ids, team_id]));
    authorize('cycle.write', await findSeat(ctx, team_id));
    await moveTasks(ctx, ids, { team_id, to: cycleId });
    return findRecord(ctx, cycleId);
  });
}
