import { TrustedDevice } from '../../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import type { Account } from '../find-account.js';
import { endSessions } from '../sessions/end-session.js';

interface PasswordOptions {
  passwordHash: string;
  action: 'password_reset' | 'password_change';
  /** The session that stays; null ends all. */
  keep: string | null;
  /** The hash that the old password was compared with, if any; nothing is stored if it has changed since. */
  proved?: string | null;
}

/** $1 = user id, $2 = hash, $3 = whether any previous hash will do, $4 = the only one that will do. No row: suspended, or another hash. */
const storeStatement = defineStatement({
  name: 'store_password',
  text: /* sql */ `
    update users set password_hash = $2
    where user_id = $1 and status = 'active' and ($3::boolean or password_hash is not distinct from $4) returning 1`,
});

/**
 * Stores a new password, ends sessions and trusted devices, and emails the owner, in the caller's open transaction. Personal access
 * tokens stay valid. Returns false if the account was suspended or its password changed concurrently.
 */
export async function setPassword(
  ctx: Context,
  account: Account,
  { passwordHash, action, keep, proved }: PasswordOptions,
): Promise<boolean> {
  const { user_id, email, name } = account;
  const stored = await run(ctx.db, storeStatement, [user_id, passwordHash, proved === undefined, proved]);
  if (stored.length === 0) return false;
  await endSessions(ctx, user_id, keep);
  const devices = await TrustedDevice.query(ctx.db).where({ user_id }).delete();
  await queueMail(ctx, { to: email, template: 'password-changed', data: { name } });
  const entity = { entity_type: 'user' as const, entity_id: user_id };
  await recordChange(ctx, {
    team_id: null,
    feature: 'auth',
    action,
    severity: 'HIGH',
    ...entity,
    details: { revoked_devices: devices },
  });
  return true;
}
