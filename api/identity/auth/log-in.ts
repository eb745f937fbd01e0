import { type Context, inTransaction } from '../../platform/context.js';
import { checkPassword } from './check-password.js';
import { sendLoginCode } from './codes/send-login-code.js';
import { openSession } from './open-session.js';
import type { Login, LoginResult } from './schema.js';

/**
 * Signs in: checks lock and password, then returns a challenge if the account has two factors or the device is not trusted,
 * otherwise a token. A challenge carries no token.
 * @throws AUTHENTICATION_REQUIRED, the same for unknown, wrong, locked and suspended
 */
export async function logIn(ctx: Context, login: Login): Promise<LoginResult> {
  const { account, attempt } = await checkPassword(ctx, login, { suffices: true });
  const { email } = account;
  if (account.two_factor) return { requires_2fa: true, requires_login_otp: false, email };
  if (account.needs_code && !account.device_id) {
    await sendLoginCode(ctx, account);
    return { requires_2fa: false, requires_login_otp: true, email };
  }
  return inTransaction(ctx, async (ctx) => {
    return openSession(ctx, account, { trust: false, attempt });
  });
}
