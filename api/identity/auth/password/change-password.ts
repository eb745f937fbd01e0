import { type Context, inTransaction } from '../../../platform/context.js';
import { confirmPassword, invalidProof } from '../confirm-password.js';
import { clearAttempts } from '../login-attempts.js';
import { hashPassword } from '../passwords.js';
import { requireSignInSession } from '../sessions/signed-in.js';
import type { Change } from './schema.js';
import { setPassword } from './set-password.js';

/**
 * Changes the caller's password. The current session stays; all others end, and no device stays trusted. An account without a
 * password gets its first one by a reset.
 * @throws PERMISSION_DENIED wrong password
 */
export async function changePassword(ctx: Context, { current_password, new_password }: Change): Promise<{ success: true }> {
  const { account, attempt } = await confirmPassword(ctx, current_password);
  const passwordHash = await hashPassword(new_password);
  await inTransaction(ctx, async (ctx) => {
    const { sessionId: keep } = requireSignInSession(ctx);
    const { password_hash: proved } = account;
    if (!(await setPassword(ctx, account, { passwordHash, action: 'password_change', keep, proved }))) throw invalidProof();
    await clearAttempts(ctx, attempt);
  });
  return { success: true };
}
