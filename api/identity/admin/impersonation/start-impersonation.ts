import { User } from '../../../../db/models/identity/user.js';
import { run } from '../../../../db/statement.js';
import { issueToken } from '../../auth/authenticate.js';
import { getMe } from '../../auth/get-me.js';
import { insertSession } from '../../auth/sessions/session.sql.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import { type LockedUser, lockUser } from '../lock-user.js';
import { recordAdminAction } from '../record-admin-action.js';
import type { Impersonate, Impersonation } from './schema.js';
import { newId } from '../../../platform/ids.js';

const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Stored now and sent when the impersonation ends, by a stop or by its expiry. */
async function queueNotice(ctx: Context, user: LockedUser, adminId: string, expiresAt: Date): Promise<string> {
  const admin = (await User.query(ctx.db).findById(adminId).select('display_name')) as User;
  return queueMail(ctx, {
    to: user.email,
    template: 'impersonated',
    data: { name: user.display_name, admin: admin.display_name, from: minute(new Date()), until: minute(expiresAt) },
    afterMinutes: ctx.config.IMPERSONATION_MINUTES,
  });
}

/**
 * Opens a session in which an administrator impersonates another user, for 30 minutes that cannot be extended
 * (docs/decisions/identity.md#impersonation). Actions are recorded under both names; the user gets an email afterwards.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED an administrator, or an inactive user
 */
export function startImpersonation(ctx: Context, { user_id: userId, reason }: Impersonate): Promise<Impersonation> {
  return inTransaction(ctx, async (ctx) => {
    const user = await lockUser(ctx, userId);
    if (user.role === 'admin') throw forbidden('Administrators cannot be impersonated');
    if (user.status !== 'active') throw forbidden('Inactive users cannot be impersonated');
    const impersonatorId = requireUser(ctx);
    const sessionId = newId();
    const minutes = ctx.config.IMPERSONATION_MINUTES;
    const { token, expiresAt } = await issueToken(ctx, userId, sessionId, { impersonatorId, minutes });
    const mailId = await queueNotice(ctx, user, impersonatorId, expiresAt);
    await run(ctx.db, insertSession, [sessionId, userId, ctx.ip, ctx.userAgent, 0, minutes, null, impersonatorId, mailId]);
    await recordAdminAction(ctx, 'impersonate_start', userId, { reason, session_id: sessionId, minutes });
    const actor = { type: 'user', userId, email: user.email, role: user.role, sessionId, impersonatorId } as const;
    return { token, expires_at: expiresAt.toISOString(), user: await getMe({ ...ctx, actor }) };
  });
}
