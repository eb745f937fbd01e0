import { TrustedDevice } from '../../../../db/models/identity/user.js';
import { run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import type { Device } from './schema.js';
import { listDevicesOfUser } from './session.sql.js';
import { requireSignInSession } from './signed-in.js';

interface Row extends Record<string, unknown> {
  device_id: string;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  current: boolean;
}

/** Lists the caller's trusted devices, newest first; `current` is the one this session was opened with. */
export async function listDevices(ctx: Context): Promise<Device[]> {
  const { userId, sessionId } = requireSignInSession(ctx);
  const rows = await run<Row>(ctx.db, listDevicesOfUser, [userId, sessionId]);
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }));
}

/** Revokes a trusted device: its next sign-in needs an emailed code. @throws RESOURCE_NOT_FOUND unknown, or another user's */
export function revokeDevice(ctx: Context, deviceId: string): Promise<{ success: true; device_id: string }> {
  return inTransaction(ctx, async (ctx) => {
    const { userId } = requireSignInSession(ctx);
    const deleted = await TrustedDevice.query(ctx.db).where({ device_id: deviceId, user_id: userId }).delete();
    if (deleted === 0) throw notFound('Device');
    const entity = { entity_type: 'trusted_device' as const, entity_id: deviceId };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'device_revoke', severity: 'MEDIUM', ...entity });
    return { success: true as const, device_id: deviceId };
  });
}
