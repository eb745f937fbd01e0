import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { endSession } from './session.sql.js';
import { requireSignInSession } from './signed-in.js';

async function end(ctx: Context, sessionId: string, action: 'logout' | 'session_revoke'): Promise<void> {
  const { userId } = requireSignInSession(ctx);
  if ((await run(ctx.db, endSession, [sessionId, userId])).length === 0) throw notFound('Session');
  await recordChange(ctx, {
    team_id: null,
    feature: 'auth',
    action,
    severity: action === 'logout' ? 'LOW' : 'MEDIUM',
    entity_type: 'session',
    entity_id: sessionId,
  });
}

/** Ends the caller's session; its token is rejected from the next request on. */
export async function logOut(ctx: Context): Promise<{ success: true }> {
  await inTransaction(ctx, (ctx) => end(ctx, requireSignInSession(ctx).sessionId, 'logout'));
  return { success: true };
}

/** Ends one of the caller's sessions, including the current one. @throws RESOURCE_NOT_FOUND unknown, ended, or another user's */
export async function revokeSession(ctx: Context, sessionId: string): Promise<{ success: true; session_id: string }> {
  await inTransaction(ctx, (ctx) => end(ctx, sessionId, 'session_revoke'));
  return { success: true, session_id: sessionId };
}

/**
 * $1 = user id, $2 = session to keep or null. Ends the user's sessions and those they opened by impersonation, so a stolen
 * administrator session leaves nothing behind.
 */
const endStatement = defineStatement({
  name: 'end_sessions_of_person',
  text: /* sql */ `
    update sessions set ended_at = now()
    where ended_at is null and (user_id = $1 or impersonator_id = $1) and session_id is distinct from $2::uuid returning session_id`,
});

/**
 * Ends every session of a user, impersonations included, except `except`. Call it in the transaction of its cause. Returns their
 * number.
 */
export async function endSessions({ db }: Pick<Context, 'db'>, userId: string, except: string | null = null): Promise<number> {
  return (await run(db, endStatement, [userId, except])).length;
}
