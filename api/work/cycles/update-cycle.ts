import { fn } from 'objection';
import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { authorize, checkCallerKind } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, invalid } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { checkDates, toDays } from './cycle-dates.js';
import { doesRepeat } from './rules.js';
import { lockTeam, planNext } from './plan-cycle.js';
import { type LockedCycle, lockCycle, readCycle, findRecord } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
import type { Cycle, UpdateCycle } from './schema.js';

type Fields = Pick<LockedCycle, 'name' | 'goal' | 'start_date' | 'end_date' | 'auto_complete' | 'repeats'>;
const DATES = ['start_date', 'end_date', 'auto_complete', 'repeats'] as const;

/** Returns the given fields that differ from the stored ones. */
function listChanges(cycle: LockedCycle, input: UpdateCycle): Partial<Fields> {
  const { team_id: _team, project_id: _project, ...given } = input;
  const fields = { ...given, ...toDays(given), ...(given.goal !== undefined && { goal: given.goal || null }) };
  const changed = Object.entries(fields).filter(([name, value]) => value !== undefined && value !== cycle[name as keyof Fields]);
  return Object.fromEntries(changed);
}

/** Ends the repetition of a cycle that loses its last day, or its completion by date, by a caller who does not speak of it. */
function fieldsToSet(cycle: LockedCycle, input: UpdateCycle): Partial<Fields> {
  const changes = listChanges(cycle, input);
  const endsSeries = cycle.repeats && input.repeats === undefined && !doesRepeat({ ...cycle, ...changes });
  return endsSeries ? { ...changes, repeats: false } : changes;
}

/**
 * Changes a cycle. The workflow that completes it at its end date follows a change of the dates. An active one that is to repeat gets the next one.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, a guest, or an impersonator for a completion by date | INVALID_REQUEST dates, or another team or project |
 * RESOURCE_CONFLICT the dates of a completed cycle
 */
export function updateCycle(ctx: Context, cycleId: string, input: UpdateCycle): Promise<Cycle> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id, project_id } = await readCycle(ctx, 'cycle.write', cycleId);
    if ((input.team_id ?? team_id) !== team_id) throw invalid('A cycle cannot change its team');
    if (input.project_id !== undefined && input.project_id !== project_id) throw invalid('A cycle cannot change its project');
    if (input.repeats === true) await lockTeam(ctx, team_id);
    const cycle = await lockCycle(ctx, cycleId);
    authorize('cycle.write', await findSeat(ctx, team_id));
    const changes = fieldsToSet(cycle, input);
    const names = Object.keys(changes);
    if (names.length === 0) return findRecord(ctx, cycleId);
    const movesDates = DATES.some((name) => names.includes(name));
    if (movesDates && cycle.status === 'completed') throw conflict('The dates of a completed cycle cannot change');
    const planned = { ...cycle, ...changes };
    checkDates(planned);
    // Another end date of a cycle that completes by date schedules it as well.
    if (movesDates && planned.auto_complete) checkCallerKind('cycle.schedule', ctx.actor);
    const causes = movesDates ? { cause_user_ids: [...new Set([...cycle.cause_user_ids, requireUser(ctx)])] } : {};
    await CycleRow.query(ctx.db)
      .findById(cycleId)
      .patch({ ...changes, ...causes, correlation_id: ctx.correlationId, updated_at: fn.now() });
    const differences = Object.entries(changes).map(([name, to]) => [name, { from: cycle[name as keyof Fields], to }]);
    await recordCycleChange(ctx, { ...cycle, name: changes.name ?? cycle.name }, 'update', {
      summary: `changed ${names.join(', ')}`,
      details: { changes: Object.fromEntries(differences) },
    });
    if (changes.repeats && cycle.status === 'active') await planNext(ctx, { ...planned, ...causes });
    return findRecord(ctx, cycleId);
  });
}
