import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { lockTeam } from '../teams/lock-team.js';
import { type BillingTier, listEntitlements } from '../../platform/access/billing-tiers.js';
import type { TeamPlan } from './schema.js';

/**
 * Changes a team's plan; the same plan changes nothing.
 * @throws RESOURCE_NOT_FOUND
 */
export function changeBillingTier(ctx: Context, teamId: string, plan: BillingTier): Promise<TeamPlan> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    if (team.plan !== plan) {
      await team.$query(ctx.db).patch({ plan });
      await recordChange(ctx, {
        team_id: teamId,
        feature: 'admin',
        action: 'switch_plan',
        severity: 'HIGH',
        entity_type: 'team',
        entity_id: teamId,
        title: team.name,
        summary: `put the team on the plan ${plan}`,
        details: { changes: { plan: { from: team.plan, to: plan } } },
      });
    }
    return { team_id: teamId, plan, entitlements: listEntitlements(plan) };
  });
}
