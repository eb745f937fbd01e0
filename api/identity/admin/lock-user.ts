import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { conflict, forbidden, notFound } from '../../platform/errors.js';
import type { InstanceRole } from '../../platform/access/actor.js';

export interface LockedUser extends Record<string, unknown> {
  user_id: string;
  email: string;
  display_name: string;
  role: InstanceRole;
  status: 'active' | 'suspended' | 'deprovisioned';
}

/**
 * $1 = user id. Locks the user and all active administrators in a fixed order, which serializes administrators' actions on each
 * other: of two who suspend each other, one remains.
 */
const statement = defineStatement({
  name: 'lock_user',
  text: /* sql */ `
    select user_id, email, display_name, role, status from users
    where user_id = $1 or (role = 'admin' and status = 'active') order by user_id for no key update`,
});

/**
 * Locks a user for an administrator's action, until the commit.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED the caller has lost the role concurrently
 */
export async function lockUser(ctx: Context, userId: string): Promise<LockedUser & { isLastAdmin: boolean }> {
  const rows = await run<LockedUser>(ctx.db, statement, [userId]);
  const user = rows.find((row) => row.user_id === userId);
  const admins = rows.filter(({ role, status }) => role === 'admin' && status === 'active');
  const { actor } = ctx;
  if (actor.type !== 'system' && !admins.some(({ user_id }) => user_id === actor.userId)) {
    throw forbidden('Requires an administrator of the installation');
  }
  if (!user) throw notFound('User');
  return { ...user, isLastAdmin: admins.length === 1 && admins[0] === user };
}

/**
 * Locks a user who is to be suspended or deprovisioned, until the commit.
 * @throws as `lockUser`; RESOURCE_CONFLICT the caller themselves, or the last administrator
 */
export async function lockRemovableUser(ctx: Context, userId: string): Promise<LockedUser> {
  const user = await lockUser(ctx, userId);
  if (ctx.actor.type !== 'system' && ctx.actor.userId === userId) throw conflict('You cannot do this to yourself');
  if (user.isLastAdmin) throw conflict('At least one administrator is required');
  return user;
}
