import { type Context, inTransaction } from '../../../platform/context.js';
import { refuse } from '../check-password.js';
import { confirmPassword, invalidProof } from '../confirm-password.js';
import type { Account } from '../find-account.js';
import { clearAttempts } from '../login-attempts.js';
import { useSecondFactor } from './second-factor.js';

interface Proof {
  password: string;
  code: string;
}

/**
 * Runs `work` for a signed-in user who proves both factors again, in the transaction that consumes the code.
 * @throws PERMISSION_DENIED wrong password or code, or two-factor sign-in is disabled; counts as a failed attempt
 */
export async function withTwoFactorProof<T>(
  ctx: Context,
  { password, code }: Proof,
  work: (ctx: Context, account: Account) => Promise<T>,
): Promise<T> {
  const passed = await confirmPassword(ctx, password);
  const done = await inTransaction(ctx, async (ctx) => {
    const { account, attempt } = passed;
    if (!account.two_factor || !(await useSecondFactor(ctx, account.user_id, code))) return undefined;
    await clearAttempts(ctx, attempt);
    return { result: await work(ctx, account) };
  });
  return done ? done.result : refuse(ctx, passed, invalidProof);
}
