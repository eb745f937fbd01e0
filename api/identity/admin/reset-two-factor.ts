import { deleteTwoFactor } from '../auth/two-factor/delete-two-factor.js';
import { recordTwoFactorChange } from '../auth/two-factor/record-two-factor-change.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { lockUser } from './lock-user.js';

/**
 * Disables two-factor sign-in for a user who lost device and recovery codes, and emails them; changes nothing if it is disabled.
 * For the operator's command only: the API has no such route. Returns whether it was enabled.
 * @throws RESOURCE_NOT_FOUND
 */
export function resetTwoFactor(ctx: Context, userId: string): Promise<boolean> {
  return inTransaction(ctx, async (ctx) => {
    const { email, display_name: name } = await lockUser(ctx, userId);
    const wasOn = await deleteTwoFactor(ctx, userId);
    if (wasOn) await recordTwoFactorChange(ctx, { user_id: userId, email, name }, false);
    return wasOn;
  });
}
