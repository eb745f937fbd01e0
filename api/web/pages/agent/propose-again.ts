import { editPlan } from '../../../agent/plans/decisions/edit-plan.js';
import type { Context } from '../../../platform/context.js';

/** Reasons that a message names. */
const MAX_REASONS = 3;

/** Proposes a plan again on the values of now. Returns the new plan, and what to say of it. @throws the errors of `editPlan` */
export async function proposeAgain(
  ctx: Context,
  { action_id, plan_hash }: { action_id: string; plan_hash: string },
): Promise<{ action_id: string; text: string }> {
  const plan = await editPlan(ctx, action_id, { plan_hash, changes: [] });
  const reasons = plan.omitted.map(({ reason }) => reason);
  const named = reasons.slice(0, MAX_REASONS).join('; ');
  const left = reasons.length === 0 ? '' : ` Left out: ${named}${reasons.length > MAX_REASONS ? ', and others' : ''}.`;
  return { action_id: plan.action_id, text: `Proposed again on the values of now. Nothing is changed yet.${left}` };
}
