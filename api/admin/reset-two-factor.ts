import { forgetTwoFactor } from '../auth/two-factor/forget-two-factor.js';
import { tellTwoFactor } from '../auth/two-factor/tell-two-factor.js';
import { type Context, inTransaction } from '../core/context.js';
import { holdUser } from './hold-user.js';

/**
 * Turns two-factor sign-in off for somebody who lost the device and the recovery codes, and mails them; where it is off it changes
 * nothing. The operator's command only: over the API there is no such route. Returns whether it was on.
 * @throws RESOURCE_NOT_FOUND
 */
export function resetTwoFactor(ctx: Context, userId: string): Promise<boolean> {
  return inTransaction(ctx, async (ctx) => {
    const { email, display_name: name } = await holdUser(ctx, userId);
    const wasOn = await forgetTwoFactor(ctx, userId);
    if (wasOn) await tellTwoFactor(ctx, { user_id: userId, email, name }, false);
    return wasOn;
  });
}
