import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';
import { hashOf, issueToken } from './authenticate.js';
import { getMe } from './get-me.js';
import type { SignedIn } from './schema.js';

interface Whose {
  user_id: string;
  email: string;
  role: 'user' | 'admin';
  device_id: string | null;
}

/** Makes this device a trusted one for 30 days. The token is shown once; only its SHA-256 is kept (A3). */
async function trustDevice(ctx: Context, userId: string): Promise<{ deviceId: string; token: string }> {
  const deviceId = uuidv7();
  const token = randomBytes(32).toString('base64url');
  await ctx.db('trusted_devices').insert({
    device_id: deviceId,
    user_id: userId,
    token_hash: hashOf(token),
    ip_address: ctx.ip,
    user_agent: ctx.userAgent,
    expires_at: ctx.db.raw('now() + make_interval(days => ?)', [ctx.config.TRUSTED_DEVICE_DAYS]),
  });
  return { deviceId, token };
}

/**
 * Signs a person in who has proved everything: a new session, never one that existed before, and the token for it. Call it in the
 * transaction that uses the proof up.
 */
export async function openSession(ctx: Context, account: Whose, trust: boolean): Promise<SignedIn> {
  const sessionId = uuidv7();
  const device = trust ? await trustDevice(ctx, account.user_id) : undefined;
  const deviceId = device?.deviceId ?? account.device_id;
  if (account.device_id && !device) {
    await ctx.db('trusted_devices').where({ device_id: account.device_id }).update({ last_seen_at: ctx.db.fn.now() });
  }
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
