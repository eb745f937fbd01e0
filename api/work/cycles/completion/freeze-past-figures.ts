import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { lockTasksOfCycleStatement } from '../tasks/tasks-of-cycle.sql.js';
import { commitTasksStatement, pastStaysStatement, storeFiguresStatement } from './figures.sql.js';
import { readFigures } from './get-report.js';

/** Freezes the figures of a locked cycle that was completed before it was imported: its tasks of now are what it committed to, and stay in it. */
export async function freezePastFigures(ctx: Context, cycleId: string): Promise<void> {
  await run(ctx.db, lockTasksOfCycleStatement, [cycleId]);
  await run(ctx.db, commitTasksStatement, [cycleId]);
  await run(ctx.db, pastStaysStatement, [cycleId]);
  await run(ctx.db, storeFiguresStatement, [cycleId, JSON.stringify(await readFigures(ctx, cycleId, true))]);
}
