import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { readLinks, type SessionLinks } from './read-links.js';
import type { Message, Session, SessionSummary } from './schema.js';
import { listSessionsStatement, readSessionStatement } from './session.sql.js';

type Row = Omit<SessionSummary, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date } & Record<string, unknown>;
type FullRow = Row & { messages: Message[] };

const presentSummary = (row: Row): SessionSummary => ({
  session_id: row.session_id,
  title: row.title,
  kind: row.kind,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  message_count: row.message_count,
  pending_action_id: row.pending_action_id,
});

/** Lists the caller's sessions, newest first. Their number is limited, so the list is whole. */
export async function listAgentSessions(ctx: Context): Promise<SessionSummary[]> {
  return (await run<Row>(ctx.db, listSessionsStatement, [requireUser(ctx)])).map(presentSummary);
}

/**
 * Returns a session with its messages and links: the caller's own, or one of a team in which the caller may write.
 * @throws RESOURCE_NOT_FOUND
 */
export async function readAgentSession(ctx: Context, sessionId: string): Promise<Session & Pick<SessionLinks, 'lost'>> {
  const [row] = await run<FullRow>(ctx.db, readSessionStatement, [sessionId, requireUser(ctx), rolesFor('agent.link')]);
  if (!row) throw notFound('Session');
  const { readable, lost } = await readLinks(ctx, sessionId, requireUser(ctx));
  const messages = row.messages.map((message) => ({ ...message, created_at: new Date(message.created_at).toISOString() }));
  const linked_items = readable.map(({ item_type, item_id, title, linked_at }) => ({
    item_type,
    item_id,
    title,
    linked_at: linked_at.toISOString(),
  }));
  return { ...presentSummary(row), messages, linked_items, lost };
}

/**
 * Returns a session as the API shows it: without the links that were lost.
 * @throws RESOURCE_NOT_FOUND
 */
export async function getAgentSession(ctx: Context, sessionId: string): Promise<Session> {
  const { lost: _lost, ...session } = await readAgentSession(ctx, sessionId);
  return session;
}
