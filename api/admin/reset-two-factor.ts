import { deleteTwoFactor } from '../auth/two-factor/delete-two-factor.js';
import { recordTwoFactorChange } from '../auth/two-factor/record-two-factor-change.js';
import { type Context, inTransaction } from '../core/context.js';
import { lockUser } from './lock-user.js';

/**
 * Turns two-factor sign-in off for somebody who lost the device and the recovery codes, and mails them; where it is off it changes
 * nothing. The operator's command only: over the API there is no such route. Returns whether it was on.
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
