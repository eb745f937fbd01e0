import { clearLocks } from '../auth/login-attempts.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { lockUser } from './lock-user.js';
import { recordAdminAction } from './record-admin-action.js';
import type { UserStatus } from './schema.js';

/**
 * Ends the lock after failed sign-ins; changes nothing without one.
 * @throws RESOURCE_NOT_FOUND
 */
export function unlockUser(ctx: Context, userId: string): Promise<UserStatus> {
  return inTransaction(ctx, async (ctx) => {
    const user = await lockUser(ctx, userId);
    if (await clearLocks(ctx, user)) await recordAdminAction(ctx, 'unlock', userId, {});
    return { success: true, user_id: userId, status: user.status };
  });
}
