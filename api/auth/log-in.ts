import { type Context, inTransaction } from '../core/context.js';
import { checkPassword } from './check-password.js';
import { sendLoginCode } from './codes/send-login-code.js';
import { releaseAttempt } from './login-attempts.js';
import { openSession } from './open-session.js';
import type { Login, LoginResult } from './schema.js';

/**
 * Signs a person in: lock, password, then a challenge where the account has two factors or the device is not trusted, else the token
 * (A2). A challenge carries no token and opens nothing.
 * @throws AUTHENTICATION_REQUIRED, the same for unknown, wrong, locked and suspended
 */
export async function logIn(ctx: Context, login: Login): Promise<LoginResult> {
  const { account, attempt } = await checkPassword(ctx, login);
  const { email } = account;
  if (account.two_factor) {
    await releaseAttempt(ctx, attempt);
    return { requires_2fa: true, requires_login_otp: false, email };
  }
  if (account.needs_code && !account.device_id) {
    await releaseAttempt(ctx, attempt);
    await sendLoginCode(ctx, account);
    return { requires_2fa: false, requires_login_otp: true, email };
  }
  return inTransaction(ctx, async (ctx) => {
    return openSession(ctx, account, { trust: false, attempt });
  });
}
