import { type Context, inTransaction } from '../../../platform/context.js';
import { checkPassword, refuse } from '../check-password.js';
import { openSession } from '../open-session.js';
import type { LoginStep, SignedIn } from '../schema.js';
import { useSecondFactor } from './second-factor.js';

/**
 * Completes the two-factor challenge: password again, and an authenticator or recovery code.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export async function verifyTwoFactor(ctx: Context, { code, trust_device, ...credentials }: LoginStep): Promise<SignedIn> {
  const passed = await checkPassword(ctx, credentials);
  const { account, attempt } = passed;
  const opened = await inTransaction(ctx, async (ctx) => {
    if (!account.two_factor || !(await useSecondFactor(ctx, account.user_id, code))) return undefined;
    return openSession(ctx, account, { trust: trust_device, attempt });
  });
  return opened ?? refuse(ctx, passed);
}
