import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { unauthenticated } from '../../../platform/errors.js';
import { issueToken } from '../authenticate.js';
import type { Renewed } from './schema.js';
import { renewStatement } from './session.sql.js';
import { requireSignInSession } from './signed-in.js';

/**
 * Issues a new token for the caller's session, which was idle for less than 12 h and is less than 30 days old
 * (docs/decisions/identity.md#session-lifetime). No token outlives its session.
 * @throws AUTHENTICATION_REQUIRED if the session ended concurrently
 */
export async function renewSession(ctx: Context): Promise<Renewed> {
  const { userId, sessionId } = requireSignInSession(ctx);
  const [session] = await run<{ expires_at: Date }>(ctx.db, renewStatement, [sessionId]);
  if (!session) throw unauthenticated();
  const { token, expiresAt } = await issueToken(ctx, userId, sessionId, { notAfter: session.expires_at });
  return { token, expires_at: expiresAt.toISOString() };
}
