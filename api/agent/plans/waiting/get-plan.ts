import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { forbidden, notFound } from '../../../platform/errors.js';
import type { PlanRecord } from '../decisions/schema.js';
import { canConfirm, isReadable, type PlanRow, presentPlan } from './present-plan.js';
import { getPlansStatement } from './read-plans.sql.js';

const readPlans = (ctx: Context, ids: readonly string[]): Promise<PlanRow[]> =>
  run<PlanRow & Record<string, unknown>>(ctx.db, getPlansStatement, [ids, requireUser(ctx), rolesFor('plan.decide')]);

/** @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED it changes a team that the caller has left */
async function readPlan(ctx: Context, actionId: string): Promise<PlanRow> {
  const [row] = await readPlans(ctx, [actionId]);
  if (!row) throw notFound('Plan');
  if (!isReadable(row)) throw forbidden('You are not a member of this team');
  return row;
}

/**
 * Returns a plan in any status: the caller's own, or one of a team in which the caller may write.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED it changes a team that the caller has left
 */
export const getPlan = async (ctx: Context, actionId: string): Promise<PlanRecord> => presentPlan(await readPlan(ctx, actionId));

/** A plan for the page on which it is decided. */
export interface PlanToDecide extends PlanRecord {
  session_title: string | null;
  note: string | null;
  can_confirm: boolean;
  /** Only a signed-in person decides the plans of its team. */
  signed_in: boolean;
  /** Users behind what asked for it. */
  behind: string[];
}

const toDecide = (ctx: Context, row: PlanRow): PlanToDecide => {
  const { session_title = null, note = null, signed_in, behind_user_ids: behind } = row;
  return { ...presentPlan(row), session_title, note, signed_in, can_confirm: canConfirm(ctx, row), behind };
};

/**
 * Returns a plan as `getPlan` does, with what was said with it and whether the caller may confirm it.
 * @throws the errors of `getPlan`
 */
export const getPlanToDecide = async (ctx: Context, actionId: string): Promise<PlanToDecide> =>
  toDecide(ctx, await readPlan(ctx, actionId));

/** Returns plans by id, without those that the caller may not see. */
export const getPlansToDecide = async (ctx: Context, ids: readonly string[]): Promise<PlanToDecide[]> =>
  ids.length === 0 ? [] : (await readPlans(ctx, ids)).filter(isReadable).map((row) => toDecide(ctx, row));
