import { fn } from 'objection';
import { User } from '../../../../db/models/identity/user.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import type { Activated } from './schema.js';
import { renewRecoveryCodes, useAuthenticatorCode } from './second-factor.js';
import { recordTwoFactorChange } from './record-two-factor-change.js';

/**
 * Enables two-factor sign-in after a correct code of the authenticator app. Returns the recovery codes, which are never shown
 * again.
 * @throws INVALID_REQUEST wrong code | RESOURCE_CONFLICT not enrolled, or already enabled
 */
export function activateTwoFactor(ctx: Context, { code }: { code: string }): Promise<Activated> {
  return inTransaction(ctx, async (ctx) => {
    const user_id = requireUser(ctx);
    const user = await User.query(ctx.db)
      .findOne({ user_id, two_factor_enabled_at: null })
      .whereNotNull('two_factor_secret')
      .forUpdate()
      .select('user_id', 'email', 'name');
    if (!user) throw conflict('Nothing to activate: enroll first');
    if (!(await useAuthenticatorCode(ctx, user_id, code.replaceAll(/\s/g, '')))) throw invalid('Incorrect code');
    await User.query(ctx.db).findById(user_id).patch({ two_factor_enabled_at: fn.now() });
    const recovery_codes = await renewRecoveryCodes(ctx, user_id);
    await recordTwoFactorChange(ctx, user, true);
    return { enabled: true as const, recovery_codes };
  });
}
