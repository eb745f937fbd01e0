import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { type LockedCycle, findRecord } from '../read-cycle.js';
import { recordCycleChange } from '../record-cycle-change.js';
import type { Cycle } from '../schema.js';
import { moveTasks } from '../tasks/move-tasks.js';
import { completeCycleStatement } from './complete-cycle.sql.js';
import { closeStaysStatement } from './figures.sql.js';
import { readFigures } from './get-report.js';

/**
 * Closes a locked active cycle whose tasks are locked: open tasks without subtasks move to the target, with `includeParents` the others too; the figures
 * are frozen. `target`: null for the backlog.
 * @throws RESOURCE_CONFLICT the target would have too many tasks
 */
export async function closeCycle(
  ctx: Context,
  cycle: LockedCycle,
  { target, includeParents }: { target: string | null; includeParents: boolean },
): Promise<Cycle> {
  const { cycle_id, team_id } = cycle;
  const [closed] = await run<{ open_ids: string[]; parent_ids: string[] }>(ctx.db, closeStaysStatement, [
    cycle_id,
    includeParents,
  ]);
  await moveTasks(ctx, closed?.open_ids ?? [], { team_id, to: target, completes: 'carried_over' });
  await moveTasks(ctx, closed?.parent_ids ?? [], { team_id, to: target, completes: 'uncounted' });
  const figures = await readFigures(ctx, cycle_id, true);
  await run(ctx.db, completeCycleStatement, [cycle_id, JSON.stringify(figures), ctx.correlationId]);
  const record = await findRecord(ctx, cycle_id);
  const { days: _, ...totals } = figures;
  await recordCycleChange(ctx, cycle, 'complete', {
    summary: 'completed the cycle',
    details: { ...totals, rollover_to: target ?? 'backlog' },
    event: { type: 'cycle.completed', payload: { cycle: record, changes: { status: { from: 'active', to: 'completed' } } } },
  });
  return record;
}
