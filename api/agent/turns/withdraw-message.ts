import { run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { lockAgentSession } from '../sessions/load-session.js';
import { unlinkItem } from '../sessions/link-item.js';
import type { LinkType } from '../sessions/schema.js';
import type { SubmittedMessage } from './submit-message.js';
import { withdrawMessageStatement } from './submit-message.sql.js';

/**
 * Takes back a message that no worker has begun: nothing of it is stored, and it does not count. Returns false if a worker has begun, or
 * holds the session at this moment (docs/decisions/agent.md#messages-that-nobody-answers).
 */
export async function withdrawMessage(ctx: Context, { message_id, session_id }: SubmittedMessage): Promise<boolean> {
  const withdrawn = inTransaction(ctx, async (ctx) => {
    await lockAgentSession(ctx, session_id);
    type Row = { item_id: string; item_type: LinkType } | { item_id: null; item_type: null };
    const [message] = await run<Row>(ctx.db, withdrawMessageStatement, [message_id]);
    if (message?.item_id) await unlinkItem(ctx, { session_id, item_type: message.item_type, item_id: message.item_id });
    return message !== undefined;
  });
  // Another transaction has the session's lock, or the database is gone: the message may be answered, so it is not refused.
  return withdrawn.catch(() => false);
}
