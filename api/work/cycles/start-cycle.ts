import { fn, UniqueViolationError } from 'objection';
import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { commitTasksStatement } from './completion/figures.sql.js';
import { lockCycle, readCycle, findRecord } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
import type { Cycle } from './schema.js';

const otherActive = () =>
  conflict('Another cycle of the same team and project is active', {
    detail: 'Complete it first: one cycle is active at a time',
  });

/**
 * Starts a planned cycle: its tasks of this moment are what it commits to.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT not planned, or another cycle of the team and
 * project is active
 */
export function startCycle(ctx: Context, cycleId: string): Promise<Cycle> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id, project_id } = await readCycle(ctx, 'cycle.write', cycleId);
    // Before the lock: with it, this would wait for a completion that rolls over into this cycle, which waits for the lock.
    if (await CycleRow.query(ctx.db).findOne({ team_id, project_id, status: 'active' }).whereNot({ cycle_id: cycleId })) {
      throw otherActive();
    }
    const cycle = await lockCycle(ctx, cycleId);
    authorize('cycle.write', await findSeat(ctx, team_id));
    if (cycle.status !== 'planned') throw conflict(`The cycle is ${cycle.status}, not planned`);
    const started = CycleRow.query(ctx.db)
      .findById(cycleId)
      .patch({
        status: 'active',
        started_at: fn.now(),
        updated_at: fn.now(),
        cause_user_ids: [...new Set([...cycle.cause_user_ids, requireUser(ctx)])],
        correlation_id: ctx.correlationId,
      });
    // Two starts at once: the unique index decides.
    await started.catch((error: unknown) => {
      throw error instanceof UniqueViolationError ? otherActive() : error;
    });
    await run(ctx.db, commitTasksStatement, [cycleId]);
    const record = await findRecord(ctx, cycleId);
    await recordCycleChange(ctx, cycle, 'start', {
      summary: 'started the cycle',
      details: { tasks: record.task_count },
      event: { type: 'cycle.started', payload: { cycle: record, changes: { status: { from: 'planned', to: 'active' } } } },
    });
    return record;
  });
}
