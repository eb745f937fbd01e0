import { clearLocks } from '../auth/login-attempts.js';
import { type Context, inTransaction } from '../core/context.js';
import { lockUser } from './lock-user.js';
import { recordAdminAction } from './record-admin-action.js';
import type { UserStatus } from './schema.js';

/**
 * Ends the lock that failed sign-ins brought about; without one it changes nothing.
 * @throws RESOURCE_NOT_FOUND
 * Source: decisions A6 and A11.
 */
export function unlockUser(ctx: Context, userId: string): Promise<UserStatus> {
  return inTransaction(ctx, async (ctx) => {
    const user = await lockUser(ctx, userId);
    if (await clearLocks(ctx, user)) await recordAdminAction(ctx, 'unlock', userId, {});
    return { success: true, user_id: userId, status: user.status };
  });
}
