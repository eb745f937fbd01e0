import { User } from '../../../../db/models/identity/user.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { confirmPassword } from '../confirm-password.js';
import { clearAttempts } from '../login-attempts.js';
import type { Enrolment } from './schema.js';
import { newSecret, sealSecret } from './second-factor.js';

/**
 * Creates a secret for the authenticator app, valid once `activate` has verified a code. A second enrollment replaces a secret that
 * was never activated.
 * @throws PERMISSION_DENIED wrong password | RESOURCE_CONFLICT already enabled
 */
export async function enrollTwoFactor(ctx: Context, { password }: { password: string }): Promise<Enrolment> {
  const { account, attempt } = await confirmPassword(ctx, password);
  const enrolment = newSecret(account.email);
  await inTransaction(ctx, async (ctx) => {
    await clearAttempts(ctx, attempt);
    const enrolled = await User.query(ctx.db)
      .findById(account.user_id)
      .where({ two_factor_enabled_at: null })
      .patch({ two_factor_secret: sealSecret(ctx, account.user_id, enrolment.secret), two_factor_step: null });
    if (enrolled === 0) throw conflict('Two-factor authentication is already enabled');
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: 'two_factor_enroll',
      severity: 'HIGH',
      entity_type: 'user',
      entity_id: account.user_id,
    });
  });
  return enrolment;
}
