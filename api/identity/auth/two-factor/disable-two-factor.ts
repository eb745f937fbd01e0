import type { Context } from '../../../platform/context.js';
import { deleteTwoFactor } from './delete-two-factor.js';
import { withTwoFactorProof } from './two-factor-proof.js';
import { recordTwoFactorChange } from './record-two-factor-change.js';

/** Disables two-factor sign-in and deletes secret and recovery codes. @throws PERMISSION_DENIED */
export function disableTwoFactor(ctx: Context, proof: { password: string; code: string }): Promise<{ enabled: false }> {
  return withTwoFactorProof(ctx, proof, async (ctx, account) => {
    await deleteTwoFactor(ctx, account.user_id);
    await recordTwoFactorChange(ctx, account, false);
    return { enabled: false as const };
  });
}
