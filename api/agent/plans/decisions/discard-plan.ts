import { run } from '../../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { countPlans } from '../../../platform/telemetry/metrics.js';
import { readPlan } from '../plan-content.js';
import { hashText } from '../../../gate/staging/canonical.js';
import { discardPlanStatement } from './decide.sql.js';
import { checkOpen, lockPlan, wakePlan } from './lock-plan.js';
import { authorizePlan } from './policy.js';
import type { DecidedPlan } from './schema.js';

/**
 * Discards a staged plan, also after its time.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED a guest of its team | RESOURCE_CONFLICT decided or stale
 */
export function discardPlan(
  ctx: Context,
  {
    session_id,
    action_id,
    comment = null,
  }: { session_id: string | null; action_id: string; comment?: string | null | undefined },
): Promise<DecidedPlan> {
  return inTransaction(ctx, async (ctx) => {
    const { plan, seats } = await lockPlan(ctx, action_id, session_id);
    authorizePlan(ctx, 'rejected', plan, plan.risk, seats);
    checkOpen(plan);
    const userId = requireUser(ctx);
    const [closed] = await run<{ decided_at: Date }>(ctx.db, discardPlanStatement, [action_id, userId, comment]);
    if (!closed) throw new Error(`Plan ${action_id} is locked but was not closed`);
    await recordChange(ctx, {
      team_id: plan.team_id ?? plan.team_ids[0] ?? null,
      project_id: plan.project_id,
      feature: 'ai_agent',
      action: 'discard',
      entity_type: 'agent_plan',
      entity_id: action_id,
      title: plan.summary,
      ...(plan.team_id !== null && { summary: 'discarded a plan' }),
      details: { plan_hash: hashText(plan.plan_hash), reason: 'person', ...(comment && { comment }) },
    });
    await wakePlan(ctx, plan);
    countPlans(plan.source, 'discarded');
    return {
      success: true,
      action_id,
      session_id: plan.session_id,
      status: 'discarded',
      message: 'Discarded; nothing was changed',
      results: readPlan(plan.canonical).actions.map(({ index, entity_type, entity_id }) => ({
        index,
        status: 'skipped',
        entity_type,
        entity_id,
      })),
      decided_by: userId,
      decided_at: closed.decided_at.toISOString(),
      correlation_id: ctx.correlationId,
    };
  });
}
