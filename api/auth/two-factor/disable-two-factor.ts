import type { Context } from '../../core/context.js';
import { deleteTwoFactor } from './forget-two-factor.js';
import { withTwoFactorProof } from './prove-both.js';
import { recordTwoFactorChange } from './tell-two-factor.js';

/** Turns two-factor sign-in off and forgets secret and recovery codes (A4). @throws PERMISSION_DENIED */
export function disableTwoFactor(ctx: Context, proof: { password: string; code: string }): Promise<{ enabled: false }> {
  return withTwoFactorProof(ctx, proof, async (ctx, account) => {
    await deleteTwoFactor(ctx, account.user_id);
    await recordTwoFactorChange(ctx, account, false);
    return { enabled: false as const };
  });
}
