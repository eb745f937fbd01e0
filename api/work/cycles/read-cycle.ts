import type { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { run } from '../../../db/statement.js';
import { type Ability, authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { getCycleStatement, lockCyclesStatement, nextCycleStatement } from './read-cycle.sql.js';
import type { Cycle } from './schema.js';

/**
 * Returns a cycle that the caller may read or change. Takes no lock: a stranger makes nobody wait.
 * @throws RESOURCE_NOT_FOUND unknown, or of a project in the trash | PERMISSION_DENIED
 */
export async function readCycle(ctx: Context, ability: Extract<Ability, `cycle.${string}`>, cycleId: string): Promise<Cycle> {
  const [found] = await run<{ seat: Seat | null; cycle: Cycle }>(ctx.db, getCycleStatement, [cycleId, requireUser(ctx)]);
  if (!found) throw notFound('Cycle');
  authorize(ability, found.seat);
  return found.cycle;
}

/** Returns the record of a cycle as it is stored now, for any caller. */
export async function findRecord({ db }: Pick<Context, 'db'>, cycleId: string): Promise<Cycle> {
  const [found] = await run<{ cycle: Cycle }>(db, getCycleStatement, [cycleId, null]);
  if (!found) throw notFound('Cycle');
  return found.cycle;
}

export type LockedCycle = Pick<
  CycleRow,
  | 'cycle_id'
  | 'team_id'
  | 'project_id'
  | 'name'
  | 'goal'
  | 'start_date'
  | 'end_date'
  | 'status'
  | 'auto_complete'
  | 'repeats'
  | 'created_by'
  | 'cause_user_ids'
>;

/**
 * Locks cycles until the commit, so later reads stay valid. Writers lock cycles first, then tasks, then a membership. Returns those that
 * exist, by id.
 */
export async function lockCycles({ db }: Pick<Context, 'db'>, cycleIds: string[]): Promise<Map<string, LockedCycle>> {
  const rows = await run<LockedCycle>(db, lockCyclesStatement, [cycleIds]);
  return new Map(rows.map((row) => [row.cycle_id, row]));
}

/** @throws RESOURCE_NOT_FOUND */
export async function lockCycle(ctx: Pick<Context, 'db'>, cycleId: string): Promise<LockedCycle> {
  const cycle = (await lockCycles(ctx, [cycleId])).get(cycleId);
  if (!cycle) throw notFound('Cycle');
  return cycle;
}

/** Returns the id of the earliest planned cycle of a team and project; null if there is none. */
export async function findNextCycle(
  { db }: Pick<Context, 'db'>,
  place: { team_id: string; project_id: string | null },
): Promise<string | null> {
  const [next] = await run<{ cycle_id: string }>(db, nextCycleStatement, [place.team_id, place.project_id]);
  return next?.cycle_id ?? null;
}
