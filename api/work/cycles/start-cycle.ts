import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { beginCycle, hasActive, otherActive } from './begin-cycle.js';
import { lockTeam } from './plan-cycle.js';
import { lockCycle, readCycle } from './read-cycle.js';
import type { Cycle } from './schema.js';

/**
 * Starts a planned cycle: its tasks of this moment are what it commits to. If it repeats, the next one is planned.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT not planned, or another cycle of the team and
 * project is active
 */
export function startCycle(ctx: Context, cycleId: string): Promise<Cycle> {
  return inTransaction(ctx, async (ctx) => {
    const seen = await readCycle(ctx, 'cycle.write', cycleId);
    // Before the lock: with it, this would wait for a completion that rolls over into this cycle, which waits for the lock.
    if (await hasActive(ctx, seen)) throw otherActive();
    if (seen.repeats) await lockTeam(ctx, seen.team_id);
    const cycle = await lockCycle(ctx, cycleId);
    authorize('cycle.write', await findSeat(ctx, seen.team_id));
    if (cycle.status !== 'planned') throw conflict(`The cycle is ${cycle.status}, not planned`);
    return beginCycle(ctx, { ...cycle, repeats: cycle.repeats && seen.repeats }, [requireUser(ctx)]);
  });
}
