import type { Context } from '../../core/context.js';
import { forgetTwoFactor } from './forget-two-factor.js';
import { withBothFactors } from './prove-both.js';
import { tellTwoFactor } from './tell-two-factor.js';

/** Turns two-factor sign-in off and forgets secret and recovery codes (A4). @throws PERMISSION_DENIED */
export function disableTwoFactor(ctx: Context, proof: { password: string; code: string }): Promise<{ enabled: false }> {
  return withBothFactors(ctx, proof, async (ctx, account) => {
    await forgetTwoFactor(ctx, account.user_id);
    await tellTwoFactor(ctx, account, false);
    return { enabled: false as const };
  });
}
