import { run } from '../../../../db/statement.js';
import { isAllowed } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { findSeat } from '../../../platform/access/seats.js';
import { readCycle } from '../read-cycle.js';
import type { TaskRow } from '../../tasks/read/task-row.js';
import type { Cycle } from '../schema.js';
import { shownTasksStatement } from './tasks-of-page.sql.js';

/** Rows of the list on the page of a cycle. */
const MAX_SHOWN = 100;

/** A cycle with what its page shows of its tasks: the first 100. */
export interface CyclePage {
  cycle: Cycle;
  canWrite: boolean;
  tasks: TaskRow[];
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member */
export async function readCyclePage(ctx: Context, cycleId: string): Promise<CyclePage> {
  const cycle = await readCycle(ctx, 'cycle.read', cycleId);
  const canWrite = isAllowed('cycle.write', await findSeat(ctx, cycle.team_id));
  const tasks = await run<TaskRow & Record<string, unknown>>(ctx.db, shownTasksStatement, [cycleId, MAX_SHOWN]);
  return { cycle, canWrite, tasks };
}
