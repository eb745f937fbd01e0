import { AgentLink, AgentMessage, AgentSession } from '../../../db/models/agent-session.js';
import { run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { closePlansOfSession } from '../plans/decisions/close-plans.js';
import { recordSession } from './create-session.js';
import { lockAgentSession } from './load-session.js';
import { getAgentSession } from './read-session.js';
import type { DeletedSession, Session, UpdateSession } from './schema.js';
import { stopTurnsStatement } from './session.sql.js';

/** What a stopped message is answered with. */
const STOPPED = 'Stopped. Nothing was changed.';

/**
 * Renames a session of the caller.
 * @throws RESOURCE_NOT_FOUND
 */
export function renameAgentSession(ctx: Context, sessionId: string, { title }: UpdateSession): Promise<Session> {
  return inTransaction(ctx, async (ctx) => {
    const session = await lockAgentSession(ctx, sessionId);
    await session.$query(ctx.db).patch({ title, updated_at: new Date() });
    await recordSession(ctx, 'update', sessionId);
    return getAgentSession(ctx, sessionId);
  });
}

/** Stops the open turns of a session that the caller has locked. Returns their messages. */
export async function stopTurns({ db }: Pick<Context, 'db'>, sessionId: string): Promise<string[]> {
  const stopped = await run<{ message_id: string }>(db, stopTurnsStatement, [sessionId, STOPPED]);
  return stopped.map(({ message_id }) => message_id);
}

/** Deletes the messages and links of sessions; the rows of the sessions stay for their plans. */
export async function emptySessions({ db }: Pick<Context, 'db'>, sessionIds: readonly string[]): Promise<void> {
  await AgentMessage.query(db)
    .whereIn('session_id', [...sessionIds])
    .delete();
  await AgentLink.query(db)
    .whereIn('session_id', [...sessionIds])
    .delete();
  await AgentSession.query(db)
    .whereIn('session_id', [...sessionIds])
    .patch({ deleted_at: new Date(), title: '' });
}

/**
 * Deletes a session of the caller with its messages and links, and stops its open turns. Discards its staged plans.
 * @throws RESOURCE_NOT_FOUND
 */
export function deleteAgentSession(ctx: Context, sessionId: string): Promise<DeletedSession> {
  return inTransaction(ctx, async (ctx) => {
    await lockAgentSession(ctx, sessionId);
    await stopTurns(ctx, sessionId);
    await closePlansOfSession(ctx, sessionId);
    await emptySessions(ctx, [sessionId]);
    await recordSession(ctx, 'delete', sessionId);
    return { success: true, session_id: sessionId };
  });
}
