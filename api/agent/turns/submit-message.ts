import { AgentSession } from '../../../db/models/agent-session.js';
import { run } from '../../../db/statement.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, DomainError, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { wakeDispatcher } from '../../platform/outbox/outbox.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { checkWorkers } from '../../platform/telemetry/check-workers.js';
import { lockAgentSession } from '../sessions/load-session.js';
import { linkFirst } from '../sessions/link-item.js';
import { readLinks } from '../sessions/read-links.js';
import { titleFrom } from '../sessions/title-from.js';
import { DEFAULT_TITLE, MAX_MESSAGES } from '../sessions/schema.js';
import { chooseProvider } from './choose-provider.js';
import { countMessage, returnMessage } from './quota.js';
import { findOnlyNamed } from './reading/only-named.js';
import { type Chat, MAX_OPEN_TURNS, MAX_OPEN_TURNS_OF_USER } from './schema.js';
import { countTurnsStatement, storeMessageStatement } from './submit-message.sql.js';

/** A stored message that waits for its answer. */
export interface SubmittedMessage {
  message_id: string;
  session_id: string;
}

/** No worker answers: nothing is stored. */
export const notAvailable = () =>
  new DomainError('INTERNAL_ERROR', 'The agent is not available at the moment', {
    detail: 'Nothing was stored, and the message does not count. Send it again.',
    status: 503,
    headers: { 'Retry-After': '5' },
  });

interface Counts extends Record<string, unknown> {
  messages: number;
  open: number;
  open_of_user: number;
}

async function checkRoom(ctx: Context, sessionId: string): Promise<void> {
  const [counts] = await run<Counts>(ctx.db, countTurnsStatement, [sessionId, requireUser(ctx)]);
  const { messages = 0, open = 0, open_of_user = 0 } = counts ?? {};
  if (open >= MAX_OPEN_TURNS)
    throw conflict(`${open} messages of this session wait for an answer`, { detail: 'Wait for an answer, or stop the session.' });
  if (open_of_user >= MAX_OPEN_TURNS_OF_USER)
    throw conflict(`${open_of_user} of your messages wait for an answer`, { detail: 'Wait for an answer, or stop a session.' });
  if (messages >= MAX_MESSAGES) throw conflict(`A session holds at most ${MAX_MESSAGES} messages; create another one`);
}

/**
 * Stores a message of the caller and enqueues its turn; links the task that a first message names by its number, or its project. The quota is counted first, in its own statement; a message that is then refused
 * gives it back. `messageId`: the caller chooses it in order to wait for its answer from the beginning.
 * @throws RESOURCE_NOT_FOUND no such session | QUOTA_EXCEEDED | RESOURCE_CONFLICT too many messages | INTERNAL_ERROR 503 no worker
 */
export async function submitMessage(ctx: Context, { session_id, message }: Chat, messageId = newId()): Promise<SubmittedMessage> {
  const userId = requireUser(ctx);
  const tokenId = ctx.actor.type === 'pat' ? ctx.actor.tokenId : null;
  const session = await AgentSession.query(ctx.db).findById(session_id).where({ owner_id: userId, kind: 'chat' }).modify('live');
  if (!session) throw notFound('Session');
  // Nobody could answer: no worker is alive, or none reaches Temporal.
  if (!(await checkWorkers(ctx.db)).temporal.ok) throw notAvailable();
  const { readable, lost } = await readLinks(ctx, session_id, userId);
  const named = readable.length + lost.length === 0 ? await findOnlyNamed(ctx, message, tokenId) : undefined;
  const teamId = (readable[0] ?? named)?.team_id ?? null;
  const { provider, model } = await chooseProvider(
    ctx,
    readable.map(({ team_id }) => team_id),
  );
  if (teamId !== null) await countMessage(ctx, teamId);
  try {
    await inTransaction(ctx, async (ctx) => {
      await lockAgentSession(ctx, session_id);
      await checkRoom(ctx, session_id);
      if (named) await linkFirst(ctx, session_id, { item_type: named.type, item_id: named.id });
      const caller = JSON.stringify(callerJson(ctx));
      const values = [messageId, session_id, userId, message, teamId, provider, model, ctx.correlationId, tokenId, caller];
      await run(ctx.db, storeMessageStatement, [...values, DEFAULT_TITLE, titleFrom(message)]);
      wakeDispatcher(ctx);
      await recordChange(ctx, {
        team_id: teamId,
        feature: 'ai_agent',
        action: 'start',
        entity_type: 'agent_session',
        entity_id: session_id,
        details: { message_id: messageId, provider },
      });
    });
  } catch (error) {
    if (teamId !== null) await returnMessage(ctx, teamId).catch(() => undefined);
    throw error;
  }
  return { message_id: messageId, session_id };
}
