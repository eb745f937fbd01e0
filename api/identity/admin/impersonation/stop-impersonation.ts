import { run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { sendMailNow } from '../../../platform/mail/queue-mail.js';
import { endSession } from '../../auth/sessions/session.sql.js';
import { recordAdminAction } from '../record-admin-action.js';

/**
 * Ends the caller's impersonation at once.
 * @throws RESOURCE_CONFLICT not impersonating
 */
export function stopImpersonation(ctx: Context): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { actor } = ctx;
    if (actor.type !== 'user' || actor.impersonatorId === null) throw conflict('Not impersonating');
    const [ended] = await run<{ impersonation_mail_id: string }>(ctx.db, endSession, [actor.sessionId, actor.userId]);
    if (!ended) return;
    await sendMailNow(ctx, ended.impersonation_mail_id);
    await recordAdminAction(ctx, 'impersonate_end', actor.userId, { session_id: actor.sessionId });
  });
}
