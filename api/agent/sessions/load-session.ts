import { AgentSession } from '../../../db/models/agent-session.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';

/**
 * Locks a live session of the caller until the commit, before anything else of it. Another person's session is none.
 * @throws RESOURCE_NOT_FOUND
 */
export async function lockAgentSession(ctx: Context, sessionId: string): Promise<AgentSession> {
  const session = await AgentSession.query(ctx.db)
    .findById(sessionId)
    .where({ owner_id: requireUser(ctx) })
    .modify('live')
    .forNoKeyUpdate();
  if (!session) throw notFound('Session');
  return session;
}
