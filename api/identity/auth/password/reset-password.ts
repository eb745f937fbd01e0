import { type Context, inTransaction } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { checkCode, useCode } from '../codes/one-time-code.js';
import { type Account, canonicalAddress, findAccount } from '../find-account.js';
import { clearLocks, recordFailure, getSubject, reserveAttempt } from '../login-attempts.js';
import { hashPassword } from '../passwords.js';
import type { Reset } from './schema.js';
import { setPassword } from './set-password.js';

const badCode = () => new DomainError('AUTHENTICATION_REQUIRED', 'Invalid or expired code');

function store(ctx: Context, account: Account, codeId: string, passwordHash: string): Promise<boolean> {
  return inTransaction(ctx, async (ctx) => {
    if (!(await useCode(ctx, codeId))) return false;
    if (!(await setPassword(ctx, account, { passwordHash, action: 'password_reset', keep: null }))) return false;
    await clearLocks(ctx, account);
    // A holder of the old password may have trusted a device.
    return true;
  });
}

/**
 * Sets a new password by an emailed code. Every session, trusted device and lock ends; the second factor and personal access tokens
 * stay. A wrong code counts like a wrong password.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export async function resetPassword(ctx: Context, { email, code, new_password }: Reset): Promise<{ success: true }> {
  const address = canonicalAddress(email);
  const account = await findAccount(ctx, address);
  const attempt = await reserveAttempt(ctx, getSubject(address, null));
  const codeId = attempt.allowed ? await checkCode(ctx, 'password_reset', address, code) : null;
  const done = codeId !== null && account?.usable && (await store(ctx, account, codeId, await hashPassword(new_password)));
  if (done) return { success: true };
  await recordFailure(ctx, account, attempt);
  throw badCode();
}
