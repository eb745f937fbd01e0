import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { Team } from '../../../db/models/team.js';
import type { Context } from '../../platform/context.js';
import { newId } from '../../platform/ids.js';
import { findNextCycle, type LockedCycle } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
import { daysAfter, doesRepeat, nameAfter } from './rules.js';

type Fields = Pick<
  CycleRow,
  'team_id' | 'project_id' | 'goal' | 'start_date' | 'end_date' | 'auto_complete' | 'repeats' | 'created_by' | 'cause_user_ids'
> & { cycle_id?: string; name: string | ((number: number) => string) };

/**
 * Locks a live team until the commit; undefined if there is none. Creations of cycles in a team happen one after the other, so their numbers follow each
 * other. A writer that locks cycles too locks the team first.
 */
export const lockTeam = async ({ db }: Pick<Context, 'db'>, teamId: string): Promise<Team | undefined> =>
  Team.query(db).findById(teamId).modify('live').forNoKeyUpdate();

/** Inserts a planned cycle under the next number, and records it. The caller holds the lock of the team. Returns its id. */
export async function planCycle(ctx: Context, { name: named, cycle_id = newId(), ...fields }: Fields): Promise<string> {
  const { team_id, project_id, start_date, end_date, auto_complete, repeats } = fields;
  const last = await CycleRow.query(ctx.db).where({ team_id, project_id }).orderBy('number', 'desc').first();
  const number = (last?.number ?? 0) + 1;
  const name = typeof named === 'string' ? named : named(number);
  await CycleRow.query(ctx.db).insert({ ...fields, cycle_id, name, number, correlation_id: ctx.correlationId });
  await recordCycleChange(ctx, { cycle_id, team_id, project_id, name }, 'create', {
    summary: 'planned the cycle',
    details: { name, start_date, end_date, auto_complete, ...(repeats && { repeats }) },
  });
  return cycle_id;
}

/**
 * Plans the cycle that follows one that repeats, unless one is planned. The caller holds the lock of the team. Returns the id of the next cycle; null if
 * nothing follows.
 */
export async function planNext(ctx: Context, cycle: Omit<LockedCycle, 'cycle_id' | 'goal' | 'status'>): Promise<string | null> {
  const next = await findNextCycle(ctx, cycle);
  if (next !== null || !doesRepeat(cycle)) return next;
  const days = daysAfter(cycle, new Date().toISOString().slice(0, 10));
  if (days === null) return null;
  const { team_id, project_id, auto_complete, repeats, created_by, cause_user_ids } = cycle;
  const name = (number: number): string => nameAfter(cycle.name, number);
  return planCycle(ctx, { team_id, project_id, goal: null, auto_complete, repeats, created_by, cause_user_ids, ...days, name });
}
