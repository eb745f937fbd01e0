import { User } from '../../../db/models/identity/user.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { lockUser } from './lock-user.js';
import { recordAdminAction } from './record-admin-action.js';
import type { UserStatus } from './schema.js';

/**
 * Reinstates a suspended user: they can sign in, and their tokens work again. Their automations stay disabled. A repetition changes
 * nothing.
 * @throws RESOURCE_NOT_FOUND | RESOURCE_CONFLICT deprovisioned
 */
export function reinstateUser(ctx: Context, userId: string): Promise<UserStatus> {
  return inTransaction(ctx, async (ctx) => {
    const { status } = await lockUser(ctx, userId);
    if (status === 'deprovisioned') throw conflict('User is deprovisioned');
    if (status === 'suspended') {
      await User.query(ctx.db).findById(userId).patch({ status: 'active' });
      await recordAdminAction(ctx, 'reinstate', userId, {});
    }
    return { success: true, user_id: userId, status: 'active' };
  });
}
