import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { lockCycle, readCycle } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
import { moveTasks } from './tasks/move-tasks.js';
import { liveTasksStatement, lockTasksOfCycleStatement } from './tasks/tasks-of-cycle.sql.js';

/**
 * Deletes a planned cycle; with `evenBegun`, any. Its tasks go to the backlog.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT active or completed
 */
export function deleteCycle(ctx: Context, cycleId: string, evenBegun = false): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    await readCycle(ctx, 'cycle.write', cycleId);
    const cycle = await lockCycle(ctx, cycleId);
    if (cycle.status !== 'planned' && !evenBegun)
      throw conflict(`The cycle is ${cycle.status}; only planned cycles can be deleted`);
    await run(ctx.db, lockTasksOfCycleStatement, [cycleId]);
    authorize('cycle.write', await findSeat(ctx, cycle.team_id));
    const [live] = await run<{ task_ids: string[] }>(ctx.db, liveTasksStatement, [cycleId]);
    const tasks = await moveTasks(ctx, live?.task_ids ?? [], { team_id: cycle.team_id, to: null });
    await CycleRow.query(ctx.db).deleteById(cycleId);
    await recordCycleChange(ctx, cycle, 'delete', { summary: 'deleted the cycle', details: { name: cycle.name, tasks } });
  });
}

/** Deletes the cycles of a team that is being deleted, before its memberships. Returns their number. */
export async function deleteCyclesOfTeam(ctx: Context, teamId: string): Promise<number> {
  return CycleRow.query(ctx.db).where({ team_id: teamId }).delete();
}

/** Deletes the cycles of a project that is being purged, after its tasks. Returns their number. */
export async function deleteCyclesOfProject(ctx: Context, projectId: string): Promise<number> {
  return CycleRow.query(ctx.db).where({ project_id: projectId }).delete();
}
