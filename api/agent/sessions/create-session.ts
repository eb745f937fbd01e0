import { AgentSession } from '../../../db/models/agent-session.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type CreateSession, DEFAULT_TITLE, MAX_SESSIONS, type NewSession } from './schema.js';

/**
 * Creates a session of the caller.
 * @throws RESOURCE_CONFLICT the caller has too many sessions
 */
export function createAgentSession(ctx: Context, { title }: CreateSession): Promise<NewSession> {
  return inTransaction(ctx, async (ctx) => {
    const owner_id = requireUser(ctx);
    const own = await AgentSession.query(ctx.db).where({ owner_id }).modify('live').resultSize();
    if (own >= MAX_SESSIONS) throw conflict(`You have ${MAX_SESSIONS} sessions; delete one first`);
    const session = await AgentSession.query(ctx.db)
      .insert({ kind: 'chat', owner_id, title: title ?? DEFAULT_TITLE })
      .returning('*');
    await recordSession(ctx, 'create', session.session_id);
    return { session_id: session.session_id, title: session.title, created_at: session.created_at.toISOString() };
  });
}

/** Records a change of a personal session: it belongs to no team, and no entry holds its title. */
export const recordSession = (ctx: Context, action: 'create' | 'update' | 'delete', sessionId: string): Promise<string> =>
  recordChange(ctx, { team_id: null, feature: 'ai_agent', action, entity_type: 'agent_session', entity_id: sessionId });
