import type { Context } from '../../../platform/context.js';
import { unauthenticated } from '../../../platform/errors.js';
import { issueToken } from '../authenticate.js';
import type { Renewed } from './schema.js';
import { requireSession } from './signed-in.js';

/**
 * Issues a new token for the caller's session, which was idle for less than 12 h and is less than 30 days old
 * (docs/decisions.md#session-lifetime). No token outlives its session.
 * @throws AUTHENTICATION_REQUIRED if the session ended concurrently
 */
export async function renewSession(ctx: Context): Promise<Renewed> {
  const { userId, sessionId } = requireSession(ctx);
  const [session] = await ctx
    .db('sessions')
    .where({ session_id: sessionId, ended_at: null })
    .where('expires_at', '>', ctx.db.fn.now())
    .update({ last_seen_at: ctx.db.fn.now() })
    .returning<{ expires_at: Date }[]>('expires_at');
  if (!session) throw unauthenticated();
  const { token, expiresAt } = await issueToken(ctx, userId, sessionId, { notAfter: session.expires_at });
  return { token, expires_at: expiresAt.toISOString() };
}
