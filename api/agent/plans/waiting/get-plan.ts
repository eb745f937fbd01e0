import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../core/access.js';
import { type Context, userOf } from '../../../core/context.js';
import { forbidden, notFound } from '../../../core/errors.js';
import type { PlanRecord } from '../decisions/schema.js';
import { isReadable, type PlanRow, presentPlan } from './present-plan.js';
import { getPlanStatement } from './read-plans.sql.js';

/**
 * Returns a plan in any status: the caller's own, or one of a team in which the caller may write.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED it changes a team that the caller has left
 */
export async function getPlan(ctx: Context, actionId: string): Promise<PlanRecord> {
  const values = [actionId, userOf(ctx), rolesFor('plan.decide')];
  const [row] = await run<PlanRow & Record<string, unknown>>(ctx.db, getPlanStatement, values);
  if (!row) throw notFound('Plan');
  if (!isReadable(row)) throw forbidden('You are not a member of this team');
  return presentPlan(row);
}
