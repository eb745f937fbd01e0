import { type Context, inTransaction } from '../../platform/context.js';
import { checkPassword, refuse } from './check-password.js';
import { checkCode, useCode } from './codes/one-time-code.js';
import { sendLoginCode } from './codes/send-login-code.js';
import { openSession } from './open-session.js';
import type { Login, LoginStep, SignedIn } from './schema.js';

/**
 * Completes the challenge of an untrusted device: password again, and the emailed code. Never replaces a second factor.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export async function verifyLoginCode(ctx: Context, { code, trust_device, ...credentials }: LoginStep): Promise<SignedIn> {
  const passed = await checkPassword(ctx, credentials);
  const { account, attempt } = passed;
  const due = account.needs_code && !account.two_factor;
  const codeId = due ? await checkCode(ctx, 'login', account.email, code) : null;
  if (codeId === null) return refuse(ctx, passed);
  const opened = await inTransaction(ctx, async (ctx) => {
    if (!(await useCode(ctx, codeId))) return undefined;
    return openSession(ctx, account, { trust: trust_device, attempt });
  });
  return opened ?? refuse(ctx, passed);
}

/**
 * Emails another code and voids the previous one. The response is the same when no code is needed.
 * @throws AUTHENTICATION_REQUIRED
 */
export async function resendLoginCode(ctx: Context, credentials: Login): Promise<{ message: string }> {
  const { account } = await checkPassword(ctx, credentials, { suffices: true });
  if (account.needs_code && !account.two_factor) await sendLoginCode(ctx, account);
  return { message: 'If a sign-in is pending, a code was emailed' };
}
