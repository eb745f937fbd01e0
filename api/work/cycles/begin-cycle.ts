import { fn, UniqueViolationError } from 'objection';
import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { commitTasksStatement } from './completion/figures.sql.js';
import { planNext } from './plan-cycle.js';
import { findRecord, type LockedCycle } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
import type { Cycle } from './schema.js';

export const otherActive = () =>
  conflict('Another cycle of the same team and project is active', {
    detail: 'Complete it first: one cycle is active at a time',
  });

/** Whether another cycle of the same team and project is active. */
export const hasActive = async (
  { db }: Pick<Context, 'db'>,
  { team_id, project_id, cycle_id }: Pick<Cycle, 'team_id' | 'project_id' | 'cycle_id'>,
): Promise<boolean> =>
  (await CycleRow.query(db).findOne({ team_id, project_id, status: 'active' }).whereNot({ cycle_id })) !== undefined;

/**
 * Starts a locked planned cycle: its tasks of this moment are what it commits to. If it repeats, the next one is planned; the caller then holds the lock of
 * the team.
 * @param starters users who start it, beside those who caused it
 * @throws RESOURCE_CONFLICT another cycle of the team and project is active
 */
export async function beginCycle(ctx: Context, cycle: LockedCycle, starters: readonly string[]): Promise<Cycle> {
  const { cycle_id } = cycle;
  const cause_user_ids = [...new Set([...cycle.cause_user_ids, ...starters])];
  const started = CycleRow.query(ctx.db).findById(cycle_id).patch({
    status: 'active',
    started_at: fn.now(),
    updated_at: fn.now(),
    cause_user_ids,
    correlation_id: ctx.correlationId,
  });
  // Two starts at once: the unique index decides.
  await started.catch((error: unknown) => {
    throw error instanceof UniqueViolationError ? otherActive() : error;
  });
  await run(ctx.db, commitTasksStatement, [cycle_id]);
  const record = await findRecord(ctx, cycle_id);
  await recordCycleChange(ctx, cycle, 'start', {
    summary: 'started the cycle',
    details: { tasks: record.task_count },
    event: { type: 'cycle.started', payload: { cycle: record, changes: { status: { from: 'planned', to: 'active' } } } },
  });
  if (cycle.repeats) await planNext(ctx, { ...cycle, cause_user_ids });
  return record;
}
