import type { Context } from '../../../platform/context.js';
import type { Session } from './schema.js';
import { requireSession } from './signed-in.js';

interface Row {
  session_id: string;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
}

/** Lists the caller's sessions, newest first. Impersonations are omitted: impersonation is reported by email. */
export async function listSessions(ctx: Context): Promise<Session[]> {
  const { userId, sessionId } = requireSession(ctx);
  const rows = await ctx
    .db('sessions')
    .where({ user_id: userId, ended_at: null, impersonator_id: null })
    .whereRaw('expires_at > now() and last_seen_at > now() - make_interval(hours => ?)', [ctx.config.SESSION_IDLE_HOURS])
    .orderBy('session_id', 'desc')
    .select<Row[]>('session_id', 'ip_address', 'user_agent', 'created_at', 'last_seen_at');
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    current: row.session_id === sessionId,
  }));
}
