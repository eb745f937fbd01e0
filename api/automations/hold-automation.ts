import { Automation } from '../../db/models/automation.js';
import type { Ability } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { authorizeOwn } from './policy.js';

/**
 * A live automation, held until the commit, for its creator or a manager of its team.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function holdAutomation(ctx: Context, ability: Ability, automationId: string): Promise<Automation> {
  const automation = await Automation.query(ctx.db).findById(automationId).modify('live').forNoKeyUpdate();
  if (!automation) throw notFound('Automation');
  const seat = automation.team_id === null ? null : await seatOf(ctx, automation.team_id);
  authorizeOwn(ability, automation, { userId: userOf(ctx), seat });
  return automation;
}
