import { poolOf } from '../../db/knex-internals.js';
import type { Context } from '../core/context.js';
import { DomainError } from '../core/errors.js';
import { type Account, canonicalAddress, findAccount } from './find-account.js';
import { recordFailure, subjectOf, reserveAttempt, type LoginAttempt } from './login-attempts.js';
import { comparePassword } from './passwords.js';

export interface Credentials {
  email: string;
  password: string;
  device_token?: string | undefined;
}

/** Somebody who gave the right password; `attempt` is still counted as a failure until it is cleared or given back. */
export interface VerifiedPassword {
  account: Account;
  attempt: LoginAttempt;
}

/** One text for unknown, wrong, locked and suspended (A6). */
export const invalidCredentials = () => new DomainError('AUTHENTICATION_REQUIRED', 'Invalid credentials');

/**
 * The one door to every password: counts the try, compares, and writes a failure down. Whose it is and whether it is locked is read
 * when the turn to compare has come, so that those who waited in the queue are judged by what is so then.
 * @throws `refusal`, the same for unknown, wrong, locked and suspended, after the same work (A2, A6)
 */
export async function checkPassword(
  ctx: Context,
  { email, password, device_token }: Credentials,
  refusal: () => Error = invalidCredentials,
): Promise<VerifiedPassword> {
  const address = canonicalAddress(email);
  // Counts for nobody: whoever has used up their own connections would keep a place to compare from everybody while they wait for one.
  const look = { ...ctx, db: poolOf(ctx.db) };
  const { whose, matches } = await comparePassword(password, async () => {
    const account = await findAccount(look, address, device_token);
    const attempt = await reserveAttempt(look, subjectOf(address, account?.device_id ?? null));
    return { account, attempt, password_hash: account?.password_hash ?? null };
  });
  const { account, attempt } = whose;
  if (matches && attempt.allowed && account?.usable) return { account, attempt };
  await recordFailure(ctx, account, attempt);
  throw refusal();
}

/** A second proof failed after the password was right. @throws AUTHENTICATION_REQUIRED always */
export async function refuse(
  ctx: Context,
  { account, attempt }: VerifiedPassword,
  refusal: () => Error = invalidCredentials,
): Promise<never> {
  await recordFailure(ctx, account, attempt);
  throw refusal();
}
