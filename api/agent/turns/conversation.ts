import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import type { PlanRecord } from '../plans/decisions/schema.js';
import { getPlan } from '../plans/waiting/get-plan.js';
import { readAgentSession } from '../sessions/read-session.js';
import { expectAnswer } from './answer-listener.js';
import type { Mentioned } from './end-turn.js';
import type { Chat } from './schema.js';
import { submitMessage } from './submit-message.js';

/** Newest plans of a conversation that are shown as cards. */
const SHOWN_PLANS = 10;

/** $1 = session id. */
const openStatement = defineStatement({
  name: 'open_turns_of_session',
  text: 'select message_id from agent_turns where session_id = $1 and finished_at is null',
});

/** $1 = session id. What the answers of a session name. */
const mentionsStatement = defineStatement({
  name: 'mentions_of_session',
  text: 'select message_id, mentions from agent_messages where session_id = $1 and mentions is not null',
});

type Session = Awaited<ReturnType<typeof readAgentSession>>;

/** A session as a person looks at it. */
export interface Conversation {
  session: Session;
  /** Messages that wait for an answer. */
  open: string[];
  /** Items that an answer names in quotation marks, in the order of its text, by message. */
  mentions: ReadonlyMap<string, readonly Mentioned[]>;
  /** Plans of the newest answers, by id; a plan that the person may no longer read is absent. */
  plans: Record<string, PlanRecord>;
}

const orAbsent = (error: unknown): undefined => {
  if (error instanceof DomainError && error.status < 500) return undefined;
  throw error;
};

/**
 * Reads a session with its open turns and its newest plans.
 * @throws RESOURCE_NOT_FOUND
 */
export async function readConversation(ctx: Context, sessionId: string): Promise<Conversation> {
  const session = await readAgentSession(ctx, sessionId);
  const open = await run<{ message_id: string }>(ctx.db, openStatement, [sessionId]);
  const mentions = await run<{ message_id: string; mentions: Mentioned[] }>(ctx.db, mentionsStatement, [sessionId]);
  const ids = session.messages.flatMap(({ action_id }) => action_id ?? []).slice(-SHOWN_PLANS);
  const read = (planIds: readonly string[]) => Promise.all(planIds.map((id) => getPlan(ctx, id).catch(orAbsent)));
  const answered = await read(ids);
  // A plan that takes another one back has no message of its own.
  const plans = [...answered, ...(await read(answered.flatMap((plan) => plan?.undone_by ?? [])))];
  return {
    session,
    open: open.map(({ message_id }) => message_id),
    mentions: new Map(mentions.map((row) => [row.message_id, row.mentions])),
    plans: Object.fromEntries(plans.flatMap((plan) => (plan ? [[plan.action_id, plan] as const] : []))),
  };
}

/**
 * Stores a message and waits a moment for its answer, which is in the session then or later. A message of this id that the caller has
 * sent before is not stored again, so that a form may be sent twice.
 * @throws RESOURCE_NOT_FOUND no such session | QUOTA_EXCEEDED | RESOURCE_CONFLICT too many messages | INTERNAL_ERROR 503 no worker
 */
export async function sendMessage(ctx: Context, input: Chat, messageId: string, waitMs: number): Promise<void> {
  if (await isSent(ctx, messageId)) return;
  const expectation = expectAnswer(ctx, messageId);
  try {
    await submitMessage(ctx, input, messageId);
    expectation.stored();
    await expectation.within(waitMs);
  } catch (error) {
    // The same form was sent at the same time.
    if (!(await isSent(ctx, messageId))) throw error;
  } finally {
    expectation.close();
  }
}

/** $1 = message id, $2 = user id. */
const sentStatement = defineStatement({
  name: 'is_message_sent',
  text: 'select from agent_turns where message_id = $1 and user_id = $2',
});

const isSent = async (ctx: Context, messageId: string): Promise<boolean> =>
  (await run(ctx.db, sentStatement, [messageId, requireUser(ctx)])).length > 0;

/** Sentences that the person could send, made of linked titles. */
export function suggestionsFor({ linked_items }: Pick<Session, 'linked_items'>): string[] {
  const titles = linked_items.flatMap(({ item_type, title }) => (item_type === 'task' ? [title] : []));
  const [first, second] = titles;
  const hasProject = linked_items.some(({ item_type }) => item_type === 'project');
  const about = hasProject ? ['what is overdue?', 'what happened this week?'] : [];
  if (first === undefined) return linked_items.length > 0 ? ['Sum up the linked items', ...about] : [];
  return [
    `close ${first}`,
    `assign ${second ?? first} to me`,
    second === undefined ? `set due date of ${first} to friday` : `${first} blocks ${second}`,
  ];
}
