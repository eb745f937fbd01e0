import { randomBytes } from 'node:crypto';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { computeHash, issueToken } from './authenticate.js';
import { invalidCredentials } from './check-password.js';
import { clearAttempts, type LoginAttempt } from './login-attempts.js';
import { getMe } from './get-me.js';
import { insertSession } from './sessions/session.sql.js';
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

/** $1 = device id, $2 = user id, $3 = hash of its token, $4 = IP address, $5 = user agent, $6 = days of its life. */
const insertDevice = defineStatement({
  name: 'insert_trusted_device',
  text: /* sql */ `
    insert into trusted_devices (device_id, user_id, token_hash, ip_address, user_agent, expires_at)
    values ($1, $2, $3, $4, $5, now() + make_interval(days => $6))`,
});

/** Locks the account and checks that the proof is still valid after the slow comparison. @throws AUTHENTICATION_REQUIRED */
async function lockVerifiedProof({ db }: Context, account: VerifiedAccount): Promise<void> {
  const { user_id, password_hash, two_factor, device_id } = account;
  const rows = await run(db, lockProof, [user_id, password_hash, two_factor]);
  if (rows.length === 0) throw invalidCredentials();
  if (device_id && (await run(db, useDevice, [device_id])).length === 0) throw invalidCredentials();
}

/** Trusts this device for 30 days (docs/decisions/identity.md#trusted-devices). The token is returned once; only its SHA-256 is stored. */
async function trustDevice(ctx: Context, userId: string): Promise<{ deviceId: string; token: string }> {
  const deviceId = newId();
  const token = randomBytes(32).toString('base64url');
  const days = ctx.config.TRUSTED_DEVICE_DAYS;
  await run(ctx.db, insertDevice, [deviceId, userId, computeHash(token), ctx.ip, ctx.userAgent, days]);
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
  const client = [ctx.ip, ctx.userAgent];
  await run(ctx.db, insertSession, [sessionId, account.user_id, ...client, ctx.config.SESSION_DAYS, 0, deviceId, null, null]);
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
