import { v7 as uuidv7 } from 'uuid';
import { run, type Statement } from '../../db/statement.js';
import { type Context, inTransaction } from '../core/context.js';
import { DomainError } from '../core/errors.js';
import { NO_ID } from '../core/fields.js';
import { recordChange } from '../core/record-change.js';
import { issueToken } from './authenticate.js';
import { getMe } from './get-me.js';
import { verifyPassword } from './passwords.js';
import type { Login, LoginResult } from './schema.js';

interface Account extends Record<string, unknown> {
  user_id: string;
  email: string;
  role: 'user' | 'admin';
  password_hash: string | null;
  usable: boolean;
  locked: boolean;
  two_factor: boolean;
  needs_code: boolean;
}

/** $1 mail address in lower case, $2 whether mailed codes are required. */
const findAccount: Statement = {
  name: 'login_account',
  text: /* sql */ `
    select user_id, email, role, password_hash, status = 'active' as usable, coalesce(locked_until > now(), false) as locked,
      two_factor_enabled_at is not null as two_factor, $2::boolean and not login_otp_exempt as needs_code
    from users where email = $1`,
};

/** Counts a failure and locks the account at the limit: one statement of its own, so nothing can roll it back (A6, R9). */
const countFailure: Statement = {
  name: 'login_failed',
  text: /* sql */ `
    update users u set
      failed_logins = c.failures,
      first_failed_login_at = case when c.failures = 1 then now() else u.first_failed_login_at end,
      locked_until = case when c.failures >= $2::int then now() + make_interval(mins => $3::int) else u.locked_until end
    from (select user_id, case when first_failed_login_at > now() - make_interval(mins => $3::int) then failed_logins + 1 else 1 end
      as failures from users where user_id = $1 for update) c
    where u.user_id = c.user_id returning u.locked_until > now() as locked`,
};

const clearFailures: Statement = {
  name: 'login_succeeded',
  text: 'update users set failed_logins = 0, first_failed_login_at = null, locked_until = null where user_id = $1 and failed_logins > 0',
};

/** One text for unknown, wrong, locked and suspended (A6). */
const badCredentials = () => new DomainError('AUTHENTICATION_REQUIRED', 'Invalid credentials');

/**
 * Writes down a refused sign-in and counts it against the account, in one commit of its own: nothing rolls it back (R9), and an
 * unknown address costs the same time as a known one. A locked or suspended account is not counted further.
 */
function noteFailure(ctx: Context, account: Account | undefined): Promise<string> {
  const { LOCKOUT_FAILURES, LOCKOUT_MINUTES } = ctx.config;
  return inTransaction(ctx, async (ctx) => {
    const counted = account && !account.locked && account.usable ? account.user_id : NO_ID;
    const [after] = await run<{ locked: boolean | null }>(ctx.db, countFailure, [counted, LOCKOUT_FAILURES, LOCKOUT_MINUTES]);
    const action = after?.locked ? 'lockout' : 'login_failed';
    const severity = action === 'login_failed' ? 'LOW' : account?.role === 'admin' ? 'CRITICAL' : 'HIGH';
    const entity = { entity_type: 'user', entity_id: account?.user_id ?? null };
    return recordChange(ctx, { team_id: null, feature: 'auth', action, severity, outcome: 'denied', ...entity });
  });
}

function openSession(ctx: Context, account: Account): Promise<LoginResult> {
  return inTransaction(ctx, async (ctx) => {
    const sessionId = uuidv7();
    await run(ctx.db, clearFailures, [account.user_id]);
    await ctx.db('sessions').insert({
      session_id: sessionId,
      user_id: account.user_id,
      ip_address: ctx.ip,
      user_agent: ctx.userAgent,
      expires_at: ctx.db.raw('now() + make_interval(days => ?)', [ctx.config.SESSION_DAYS]),
    });
    const person = { userId: account.user_id, email: account.email, role: account.role };
    const signedIn: Context = { ...ctx, actor: { type: 'user', ...person, sessionId, impersonatorId: null } };
    await recordChange(signedIn, {
      team_id: null,
      feature: 'auth',
      action: 'login',
      entity_type: 'user',
      entity_id: account.user_id,
    });
    const { token } = await issueToken(ctx, account.user_id, sessionId);
    return { token, requires_2fa: false, requires_login_otp: false, user: await getMe(signedIn) };
  });
}

/**
 * Signs a person in: lock check, password, then the second step where the account has one (A2). A challenge carries no token and
 * opens no session.
 * @throws AUTHENTICATION_REQUIRED, the same for unknown, wrong, locked and suspended
 */
export async function logIn(ctx: Context, { email, password }: Login): Promise<LoginResult> {
  const address = email.trim().toLowerCase();
  const storable = address.isWellFormed() && !address.includes('\0');
  const [account] = storable ? await run<Account>(ctx.db, findAccount, [address, ctx.config.LOGIN_OTP === 'required']) : [];
  const matches = await verifyPassword(account?.password_hash ?? null, password);
  if (!account || account.locked || !account.usable || !matches) {
    await noteFailure(ctx, account);
    throw badCredentials();
  }
  if (account.two_factor) return { requires_2fa: true, requires_login_otp: false, email: account.email };
  if (account.needs_code) {
    // No device can be trusted before the challenge can be answered, which comes with the access issue.
    return { requires_2fa: false, requires_login_otp: true, email: account.email };
  }
  return openSession(ctx, account);
}
