import { RecoveryCode, User } from '../../../../db/models/identity/user.js';
import type { Context } from '../../../platform/context.js';

/** Deletes a user's second factor: secret and recovery codes. Returns whether it was enabled. */
export async function deleteTwoFactor({ db }: Pick<Context, 'db'>, userId: string): Promise<boolean> {
  const before = await User.query(db).findById(userId).forNoKeyUpdate().select('two_factor_enabled_at');
  const off = { two_factor_enabled_at: null, two_factor_secret: null, two_factor_step: null };
  await User.query(db).findById(userId).patch(off);
  await RecoveryCode.query(db).where({ user_id: userId }).delete();
  return before?.two_factor_enabled_at != null;
}
