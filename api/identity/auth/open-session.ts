import { randomBytes } from 'node:crypto';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { computeHash, issueToken } from './authenticate.js';
import { invalidCredentials } from './check-password.js';
import { clearAttempts, type LoginAttempt } from './login-attempts.js';
import { getMe } from './get-me.js';
import type { SignedIn } from './schema.js';
import { newId } from '../../platform/ids.js';
import type { InstanceRole } from '../../platform/access/actor.js';

interface VerifiedAccount {
  user_id: string;
  email: string;
  role: InstanceRole;
  password_hash: string | null;
  two_factor: boolean;
  device_id: string | null;
}

interface SessionOptions {
  /** Makes this device a trusted one. */
  trust: boolean;
  /** The successful attempt; its counter is reset. */
  attempt?: LoginAttempt;
}

/**
 * $1 = user id, $2 = hash of the compared password, $3 = whether a second factor was required. The lock lasts until the commit: a
 * concurrent new password, suspension or second factor either waits and ends this session, or is seen here.
 */
const lockProof = defineStatement({
  name: 'lock_verified_proof',
  text: /* sql */ `
    select from users where user_id = $1 and status = 'active' and password_hash is not distinct from $2
      and (two_factor_enabled_at is not null) = $3 for share`,
});

/** $1 = device id. No row: the device is no longer trusted. */
const useDevice = defineStatement({
  name: 'use_trusted_device',
  text: 'update trusted_devices set last_seen_at = now() where device_id = $1 returning 1',
});

/** Locks the account and checks that the proof is still valid after the slow comparison. @throws AUTHENTICATION_REQUIRED */
async function lockVerifiedProof({ db }: Context, account: VerifiedAccount): Promise<void> {
  const { user_id, password_hash, two_factor, device_id } = account;
  const rows = await run(db, lockProof, [user_id, password_hash, two_factor]);
  if (rows.length === 0) throw invalidCredentials();
  if (device_id && (await run(db, useDevice, [device_id])).length === 0) throw invalidCredentials();
}

/** Trusts this device for 30 days (docs/decisions.md#trusted-devices). The token is returned once; only its SHA-256 is stored. */
async function trustDevice(ctx: Context, userId: string): Promise<{ deviceId: string; token: string }> {
  const deviceId = newId();
  const token = randomBytes(32).toString('base64url');
  await ctx.db('trusted_devices').insert({
    device_id: deviceId,
    user_id: userId,
    token_hash: computeHash(token),
    ip_address: ctx.ip,
    user_agent: ctx.userAgent,
    expires_at: ctx.db.raw('now() + make_interval(days => ?)', [ctx.config.TRUSTED_DEVICE_DAYS]),
  });
  return { deviceId, token };
}

/**
 * Opens a new session for a fully verified user and returns its token. Call it in the transaction that consumes the proof.
 * @throws AUTHENTICATION_REQUIRED if the proof is no longer valid, for example after a password change
 */
export async function openSession(ctx: Context, account: VerifiedAccount, { trust, attempt }: SessionOptions): Promise<SignedIn> {
  await lockVerifiedProof(ctx, account);
  if (attempt) await clearAttempts(ctx, attempt);
  const sessionId = newId();
  const device = trust ? await trustDevice(ctx, account.user_id) : undefined;
  const deviceId = device?.deviceId ?? account.device_id;
  await ctx.db('sessions').insert({
    session_id: sessionId,
    user_id: account.user_id,
    ip_address: ctx.ip,
    user_agent: ctx.userAgent,
    device_id: deviceId,
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
    details: { session_id: sessionId, ...(device ? { trusted_device_id: device.deviceId } : {}) },
  });
  const { token } = await issueToken(ctx, account.user_id, sessionId);
  const answer = { token, requires_2fa: false, requires_login_otp: false, user: await getMe(signedIn) } as const;
  return device ? { ...answer, device_token: device.token } : answer;
}
