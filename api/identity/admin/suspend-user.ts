import { User } from '../../../db/models/identity/user.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { loseRequestRights } from '../../gate/requests/decide/close-requests.js';
import { voidApprovals } from '../../automation/runs/approvals/void-approvals.js';
import { disableUserAutomations, lockUserAutomations } from '../../automation/definitions/ownership/disable-automations.js';
import { endSessions } from '../auth/sessions/end-session.js';
import { lockRemovableUser } from './lock-user.js';
import { recordAdminAction } from './record-admin-action.js';
import type { UserStatus } from './schema.js';

/**
 * Suspends a user from the next request on: sessions end, tokens pause until reinstatement, and approvals at pending gates are
 * revoked. Automations are disabled and stay so after reinstatement. A repetition changes nothing.
 * @throws RESOURCE_NOT_FOUND | RESOURCE_CONFLICT oneself, the last administrator, or deprovisioned
 */
export function suspendUser(ctx: Context, userId: string, reason: string): Promise<UserStatus> {
  return inTransaction(ctx, async (ctx) => {
    // Lock order: automations before accounts (docs/decisions/platform.md#lock-order).
    await lockUserAutomations(ctx, userId, null);
    const { status } = await lockRemovableUser(ctx, userId);
    if (status === 'deprovisioned') throw conflict('User is deprovisioned');
    if (status === 'active') {
      await User.query(ctx.db).findById(userId).patch({ status: 'suspended' });
      const sessions = await endSessions(ctx, userId);
      const voided = { ...(await voidApprovals(ctx, userId)), ...(await loseRequestRights(ctx, userId)) };
      const disabled = await lockUserAutomations(ctx, userId, null);
      await recordAdminAction(ctx, 'suspend', userId, { reason, sessions, ...voided, ...disabled });
      await disableUserAutomations(ctx, userId, null, 'is suspended');
    }
    return { success: true, user_id: userId, status: 'suspended' };
  });
}
