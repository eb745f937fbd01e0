import { Automation } from '../../../db/models/automation/automation.js';
import { type Context, requireUser } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { authorizeChange, authorizeManage } from './policy.js';

/**
 * Locks a live automation until the commit, for a caller with that ability. A concurrent creation of a run has locked the row FOR
 * SHARE. Not FOR UPDATE: a step locks the run and then, by its foreign key, the automation FOR KEY SHARE.
 * `seenVersion`: the one that the caller decides about; any without it.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT the automation is at another version
 */
export async function lockAutomation(
  ctx: Context,
  ability: 'automation.write' | 'automation.take_over' | 'automation.dispatch',
  automationId: string,
  seenVersion?: number | null,
): Promise<Automation> {
  const automation = await Automation.query(ctx.db).findById(automationId).modify('live').forNoKeyUpdate();
  if (!automation) throw notFound('Automation');
  const caller = { userId: requireUser(ctx), seat: automation.team_id === null ? null : await findSeat(ctx, automation.team_id) };
  if (ability === 'automation.dispatch') authorizeManage(ability, automation, caller);
  else authorizeChange(ability, automation, caller);
  if (seenVersion != null && seenVersion !== automation.version) {
    throw conflict(`The automation is at version ${automation.version}, not ${seenVersion}`);
  }
  return automation;
}
