import { run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { ActionPlan } from '../plans/schema.js';
import { stopTurns } from '../sessions/change-session.js';
import { lockAgentSession } from '../sessions/load-session.js';
import { notifyAnswered } from './answer-channel.js';
import { expectAnswer, type Expectation } from './answer-listener.js';
import type { Chat, ChatAnswer, StoppedSession } from './schema.js';
import { notAvailable, submitMessage } from './submit-message.js';
import { readAnswerStatement } from './submit-message.sql.js';
import { withdrawMessage } from './withdraw-message.js';

interface AnswerRow extends Record<string, unknown> {
  content: string;
  canonical: string | null;
  plan_hash: string | null;
  plan_status: string | null;
}

/** Reads the answer to a message; undefined while there is none. */
async function readAnswer({ db }: Context, messageId: string): Promise<ChatAnswer | undefined> {
  const [row] = await run<AnswerRow>(db, readAnswerStatement, [messageId]);
  if (!row) return undefined;
  const { content: response, canonical, plan_hash, plan_status } = row;
  if (canonical === null) return { response, requires_confirmation: false };
  const action_plan = ActionPlan.parse({ ...(JSON.parse(canonical) as object), plan_hash: `sha256:${plan_hash}` });
  return { response, requires_confirmation: plan_status === 'staged', action_plan };
}

const pendingAnswer = (message_id: string): ChatAnswer => ({
  response: 'This takes longer than usual. The answer will be in the session.',
  requires_confirmation: false,
  message_id,
  pending: true,
});

/**
 * Sends a message to the agent and waits for the answer, at most AI_CHAT_SECONDS; nothing is cancelled after that. A message that no worker
 * has begun within AI_CHAT_BEGIN_SECONDS is withdrawn: nothing of it is stored.
 * @throws RESOURCE_NOT_FOUND no such session | QUOTA_EXCEEDED | RESOURCE_CONFLICT too many messages wait | INTERNAL_ERROR 503
 */
export async function chat(ctx: Context, input: Chat): Promise<ChatAnswer> {
  const messageId = newId();
  const expectation = expectAnswer(ctx, messageId);
  try {
    await submitMessage(ctx, input, messageId);
    expectation.stored();
    return await awaitAnswer(ctx, input, messageId, expectation);
  } finally {
    expectation.close();
  }
}

async function awaitAnswer(ctx: Context, input: Chat, messageId: string, expectation: Expectation): Promise<ChatAnswer> {
  const { AI_CHAT_SECONDS: seconds, AI_CHAT_BEGIN_SECONDS: toBegin } = ctx.config;
  const deadline = Date.now() + seconds * 1_000;
  if (!(await expectation.within(Math.min(toBegin, seconds) * 1_000))) {
    if (await withdrawMessage(ctx, { ...input, message_id: messageId })) throw notAvailable();
    if (!(await expectation.within(deadline - Date.now()))) return pendingAnswer(messageId);
  }
  const answer = await readAnswer(ctx, messageId);
  // Its session was deleted in the meantime.
  if (!answer) throw unavailable();
  return answer;
}

/**
 * Stops the open turns of a session of the caller: their messages get no other answer, and nothing is staged.
 * @throws RESOURCE_NOT_FOUND
 */
export async function stopAgentSession(ctx: Context, session_id: string): Promise<StoppedSession> {
  const stopped = await inTransaction(ctx, async (ctx) => {
    await lockAgentSession(ctx, session_id);
    const messages = await stopTurns(ctx, session_id);
    const entity = { entity_type: 'agent_session', entity_id: session_id } as const;
    await recordChange(ctx, {
      team_id: null,
      feature: 'ai_agent',
      action: 'update',
      ...entity,
      details: { stopped: messages.length },
    });
    return messages;
  });
  for (const messageId of stopped) await notifyAnswered(ctx.db, messageId);
  return { success: true, session_id, stopped: stopped.length };
}
