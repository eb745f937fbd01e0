import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { Session } from './schema.js';
import { listSessionsOfUser } from './session.sql.js';
import { requireSignInSession } from './signed-in.js';

interface Row extends Record<string, unknown> {
  session_id: string;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
}

/** Lists the caller's sessions, newest first. Impersonations are omitted: impersonation is reported by email. */
export async function listSessions(ctx: Context): Promise<Session[]> {
  const { userId, sessionId } = requireSignInSession(ctx);
  const rows = await run<Row>(ctx.db, listSessionsOfUser, [userId, ctx.config.SESSION_IDLE_HOURS]);
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    current: row.session_id === sessionId,
  }));
}
