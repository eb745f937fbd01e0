import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, invalid, notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockCycles, findNextCycle, readCycle } from '../read-cycle.js';
import { isSamePlace } from '../rules.js';
import type { CompleteCycle, Cycle } from '../schema.js';
import { lockTasksOfCycleStatement } from '../tasks/tasks-of-cycle.sql.js';
import { closeCycle } from './close-cycle.js';

const notActive = (status: string) =>
  conflict(status === 'completed' ? 'The cycle is already completed' : 'The cycle is planned; start it first');

/**
 * Returns the id of the cycle that gets the open tasks; null for the backlog.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a cycle of a team without a role | INVALID_REQUEST the cycle itself, of another team or
 * project, or completed | RESOURCE_CONFLICT there is no next cycle
 */
async function resolveTarget(ctx: Context, cycle: Cycle, { rollover_to }: CompleteCycle): Promise<string | null> {
  if (rollover_to === 'backlog') return null;
  if (rollover_to === 'next') {
    const next = await findNextCycle(ctx, cycle);
    if (!next) throw conflict('There is no next cycle', { detail: 'No cycle of the same team and project is planned' });
    return next;
  }
  const target = await readCycle(ctx, 'cycle.read', rollover_to);
  if (target.cycle_id === cycle.cycle_id) throw invalid('rollover_to must be another cycle');
  if (!isSamePlace(target, cycle)) throw invalid('rollover_to must be a cycle of the same team and project');
  if (target.status === 'completed') throw invalid('rollover_to must be a planned or active cycle');
  return target.cycle_id;
}

/**
 * Completes an active cycle in one transaction: open tasks without subtasks roll over, with `include_parents` the others too, and the figures are frozen.
 * Of several callers the first wins.
 * @throws RESOURCE_NOT_FOUND cycle or target | PERMISSION_DENIED | INVALID_REQUEST another target than a planned or active cycle of the
 * same team and project | RESOURCE_CONFLICT not active, no next cycle, or too many tasks in the target
 */
export function completeCycle(ctx: Context, cycleId: string, input: CompleteCycle): Promise<Cycle> {
  return inTransaction(ctx, async (ctx) => {
    for (;;) {
      const seen = await readCycle(ctx, 'cycle.write', cycleId);
      if (seen.status !== 'active') throw notActive(seen.status);
      const target = await resolveTarget(ctx, seen, input);
      const locked = await lockCycles(ctx, target === null ? [cycleId] : [cycleId, target]);
      const cycle = locked.get(cycleId);
      if (!cycle) throw notFound('Cycle');
      if (cycle.status !== 'active') throw notActive(cycle.status);
      const status = target === null ? 'planned' : locked.get(target)?.status;
      // Deleted or started and completed in between: the target is read again.
      if (status === undefined || status === 'completed') continue;
      await run(ctx.db, lockTasksOfCycleStatement, [cycleId]);
      authorize('cycle.write', await findSeat(ctx, cycle.team_id));
      return closeCycle(ctx, cycle, { target, includeParents: input.include_parents });
    }
  });
}
