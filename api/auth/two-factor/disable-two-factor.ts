import type { Context } from '../../core/context.js';
import { withBothFactors } from './prove-both.js';
import { tellTwoFactor } from './tell-two-factor.js';

/** Turns two-factor sign-in off and forgets secret and recovery codes (A4). @throws PERMISSION_DENIED */
export function disableTwoFactor(ctx: Context, proof: { password: string; code: string }): Promise<{ enabled: false }> {
  return withBothFactors(ctx, proof, async (ctx, account) => {
    const { user_id } = account;
    const off = { two_factor_enabled_at: null, two_factor_secret: null, two_factor_step: null };
    await ctx.db('users').where({ user_id }).update(off);
    await ctx.db('recovery_codes').where({ user_id }).delete();
    await tellTwoFactor(ctx, account, false);
    return { enabled: false as const };
  });
}
