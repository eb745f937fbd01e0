import { wrapPool } from '../../../db/knex-internals.js';
import type { Context } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { type Account, canonicalAddress, findAccount } from './find-account.js';
import { recordFailure, getSubject, releaseAttempt, reserveAttempt, type LoginAttempt } from './login-attempts.js';
import { comparePassword } from './passwords.js';

export interface Credentials {
  email: string;
  password: string;
  device_token?: string | undefined;
}

/** A user who gave the right password; `attempt` counts as a failure until it is cleared or released, unless the password `suffices`. */
export interface VerifiedPassword {
  account: Account;
  attempt: LoginAttempt;
}

/** One text for unknown, wrong, locked and suspended (docs/decisions/identity.md#uniform-401). */
export const invalidCredentials = () => new DomainError('AUTHENTICATION_REQUIRED', 'Invalid credentials');

interface CheckOptions {
  refusal?: () => Error;
  /** A right password is no failure: nothing else is proved after it in this request. */
  suffices?: boolean;
}

/**
 * The only password check: counts the attempt, compares, and records a failure. Account and lock are read when the comparison
 * starts, so callers who waited in the queue are judged by the current state.
 * @throws `refusal`, the same for unknown, wrong, locked and suspended, after the same work
 */
export async function checkPassword(
  ctx: Context,
  { email, password, device_token }: Credentials,
  { refusal = invalidCredentials, suffices = false }: CheckOptions = {},
): Promise<VerifiedPassword> {
  const address = canonicalAddress(email);
  // Outside the caller's connection quota: a caller waiting for a connection would otherwise block a slot in the shared hash
  // queue.
  const sharedCtx = { ...ctx, db: wrapPool(ctx.db) };
  const load = async () => {
    const account = await findAccount(sharedCtx, address, device_token);
    const attempt = await reserveAttempt(sharedCtx, getSubject(address, account?.device_id ?? null));
    return { account, attempt, password_hash: account?.password_hash ?? null };
  };
  const { account, attempt, verified } = await comparePassword(password, load, async ({ account, attempt }, matches) => {
    const verified = matches && attempt.allowed && account?.usable ? { account, attempt } : null;
    // Before the next comparison starts, so that many right ones at once do not count together and lock the account.
    if (verified && suffices) await releaseAttempt(sharedCtx, attempt);
    return { account, attempt, verified };
  });
  if (verified) return verified;
  await recordFailure(ctx, account, attempt);
  throw refusal();
}

/** Records a failed second factor after a right password. @throws AUTHENTICATION_REQUIRED always */
export async function refuse(
  ctx: Context,
  { account, attempt }: VerifiedPassword,
  refusal: () => Error = invalidCredentials,
): Promise<never> {
  await recordFailure(ctx, account, attempt);
  throw refusal();
}
