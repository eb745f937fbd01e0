import type { Context } from '../../core/context.js';
import { unauthenticated } from '../../core/errors.js';
import { issueToken } from '../authenticate.js';
import type { Renewed } from './schema.js';
import { sessionOf } from './signed-in.js';

/**
 * A new token for the session that the caller came with, which was less than 12 h idle and is less than 30 days old (A5). No token
 * outlives its session.
 * @throws AUTHENTICATION_REQUIRED when it ended meanwhile
 */
export async function renewSession(ctx: Context): Promise<Renewed> {
  const { userId, sessionId } = sessionOf(ctx);
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
