import { Stage as StageRow } from '../../../../db/models/stage.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat } from '../../../platform/access/seats.js';
import { type Context, callerJson, inTransaction } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { BATCH, leaveStageStatement } from './delete-stage.sql.js';
import { lockStage, recordStageChange } from './lock-stages.js';

/** Times that the tasks which a stage got meanwhile are taken out again. */
const ATTEMPTS = 10;

/**
 * Takes all tasks out of a stage, each batch in its own transaction: writers of tasks wait for a batch at most, and the stage is not locked, which they
 * lock after their task. Returns their number.
 */
async function emptyStage(ctx: Context, stageId: string): Promise<number> {
  for (let tasks = 0; ; ) {
    const count = await inTransaction(ctx, async (ctx) => {
      const stage = await StageRow.query(ctx.db).findById(stageId);
      if (!stage) throw notFound('Stage');
      const values = [JSON.stringify(callerJson(ctx)), stage.team_id, stageId];
      const [left] = await run<{ count: number }>(ctx.db, leaveStageStatement, values);
      authorize('stage.manage', await findSeat(ctx, stage.team_id));
      return left?.count ?? 0;
    });
    tasks += count;
    if (count < BATCH) return tasks;
  }
}

const takenStatement = defineStatement({ name: 'task_in_stage', text: 'select 1 from tasks where stage_id = $1 limit 1' });

/** Deletes a stage without tasks. Returns false if it has some. */
function deleteEmpty(ctx: Context, stageId: string, tasks: number): Promise<boolean> {
  return inTransaction(ctx, async (ctx) => {
    const { stage } = await lockStage(ctx, stageId);
    // Waits for those who put a task into it, and from here on they wait for this.
    await StageRow.query(ctx.db).findById(stageId).forUpdate();
    if ((await run(ctx.db, takenStatement, [stageId])).length > 0) return false;
    await StageRow.query(ctx.db).deleteById(stageId);
    await recordStageChange(ctx, stage, 'delete', { tasks });
    return true;
  });
}

/**
 * Deletes a stage. Its tasks keep their status. One that is interrupted has taken some tasks out of the stage, and goes on when it is repeated. Returns the
 * number of tasks that were in it.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT tasks are put into it all the time
 */
export async function deleteStage(ctx: Context, stageId: string): Promise<number> {
  // Who may not learn of the stage, or not delete it, hears so before anything is locked.
  await inTransaction(ctx, (ctx) => lockStage(ctx, stageId));
  for (let attempt = 1, tasks = 0; attempt <= ATTEMPTS; attempt += 1) {
    tasks += await emptyStage(ctx, stageId);
    if (await deleteEmpty(ctx, stageId, tasks)) return tasks;
  }
  throw conflict('Tasks are put into the stage all the time; try again');
}

/** Deletes the stages of a team that is being deleted; tasks in the trash leave them. Returns their number. */
export async function deleteStagesOfTeam(ctx: Context, teamId: string): Promise<number> {
  return StageRow.query(ctx.db).where({ team_id: teamId }).delete();
}
