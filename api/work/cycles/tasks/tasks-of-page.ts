import { run } from '../../../../db/statement.js';
import { isAllowed } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { findSeat } from '../../../platform/access/seats.js';
import { readCycle } from '../read-cycle.js';
import type { TaskRow } from '../../tasks/read/task-row.js';
import type { Cycle } from '../schema.js';
import { backlogStatement, shownTasksStatement } from './tasks-of-page.sql.js';

/** Rows of each list on the page of a cycle. */
const MAX_SHOWN = 100;
const MAX_BACKLOG = 50;

/** A cycle with what its page shows of tasks: its first 100, and for members the newest of the backlog, which they may add. */
export interface CyclePage {
  cycle: Cycle;
  canWrite: boolean;
  tasks: TaskRow[];
  backlog: TaskRow[];
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member */
export async function readCyclePage(ctx: Context, cycleId: string): Promise<CyclePage> {
  const cycle = await readCycle(ctx, 'cycle.read', cycleId);
  const { team_id, project_id, status } = cycle;
  const canWrite = isAllowed('cycle.write', await findSeat(ctx, team_id));
  const adds = canWrite && status !== 'completed';
  const [tasks, backlog] = await Promise.all([
    run<TaskRow & Record<string, unknown>>(ctx.db, shownTasksStatement, [cycleId, MAX_SHOWN]),
    adds ? run<TaskRow & Record<string, unknown>>(ctx.db, backlogStatement, [team_id, project_id, MAX_BACKLOG]) : [],
  ]);
  return { cycle, canWrite, tasks, backlog };
}
