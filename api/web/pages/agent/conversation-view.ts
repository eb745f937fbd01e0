import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import { MAX_LINKS } from '../../../agent/sessions/schema.js';
import { type Conversation, readConversation, suggestionsFor } from '../../../agent/turns/conversation.js';
import { exampleNames } from '../../../agent/turns/example-names.js';
import { lastChanges } from '../../../work/activity-feed/last-changes.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { newId } from '../../../platform/ids.js';
import { readVersions, seenHash } from '../../../gate/staging/changed-since.js';
import { namesAt } from '../../../automation/runs/names-at.js';
import { searchItems } from '../../../work/search/search-items.js';
import type { FormError, View } from '../../page.js';
import { namesIn } from '../../wording/names.js';
import { splitAnswer } from './mentions.js';
import { listItemIds, type LineContext, lineContext, numbersIn, splitLines, findStaleTargets } from './plan-lines.js';

const FOUND = 8;
/** Types that can be linked; a note of the kind idea is linked as a note. */
const LINKABLE = ['task', 'project', 'note', 'file', 'whiteboard'];

/** Returns the id of a plan's card on the page. */
export const buildAnchor = (actionId: string): string => `plan-${actionId}`;

/** A message that was refused, with what was typed. */
interface RejectedMessage {
  problem: FormError;
  message: string;
}

/** Plans as cards: their lines in words, and whether they can be decided here. */
function buildCards(plans: readonly PlanRecord[], context: LineContext, versions: ReadonlyMap<string, number>) {
  const { names, userId } = context;
  return Object.fromEntries(
    plans.map((plan) => [
      plan.action_id,
      {
        ...plan,
        lines: splitLines(plan, context),
        seen_hash: seenHash(plan.plan_hash, plan.actions, versions),
        decidedBy: plan.decided_by === userId ? 'you' : (names[plan.decided_by ?? ''] ?? 'a former member'),
      },
    ]),
  );
}

/** Finds items that are not linked yet. */
async function searchLinkable(ctx: Context, query: string, linked: ReadonlySet<string>) {
  if (query === '') return undefined;
  const { results } = await searchItems(ctx, { query, limit: 2 * FOUND });
  return results.filter(({ item_type, item_id }) => LINKABLE.includes(item_type) && !linked.has(item_id)).slice(0, FOUND);
}

/** The items that the last answer asks to link, and the message that may be resent then; null without any, and for more than fit. */
function offerOf({ session, mentions }: Pick<Conversation, 'session' | 'mentions'>, linked: ReadonlySet<string>) {
  const [asked, answer] = session.messages.slice(-2);
  const items = (mentions.get(answer?.message_id ?? '') ?? []).filter(({ item_id, to_link }) => to_link && !linked.has(item_id));
  if (asked?.role !== 'user' || items.length === 0 || items.length + linked.size > MAX_LINKS) return null;
  return { message: asked.content, items };
}

/**
 * The page of one session.
 * @throws RESOURCE_NOT_FOUND
 */
export async function conversationView(
  ctx: Context,
  me: User,
  sessionId: string,
  query: string,
  rejected?: RejectedMessage,
): Promise<View> {
  const conversation = await readConversation(ctx, sessionId);
  const { session, open, mentions, plans: byId } = conversation;
  const plans = Object.values(byId);
  const linked = new Set(session.linked_items.map(({ item_id }) => item_id));
  const [found, members, [named], changes, versions] = await Promise.all([
    searchLinkable(ctx, query, linked),
    namesIn(ctx, me, me.teams),
    namesAt(ctx, [{ place: me.user_id, items: [...new Set(plans.flatMap(listItemIds))], users: [] }]),
    lastChanges(ctx, plans.flatMap(findStaleTargets)),
    readVersions(
      ctx,
      plans.flatMap(({ actions }) => actions),
    ),
  ]);
  const messages = session.messages.map((message) => ({
    ...message,
    blocks: splitAnswer(message.content, mentions.get(message.message_id) ?? []),
  }));
  const cards = buildCards(plans, lineContext({ ...members, ...named }, me.user_id, changes), versions);
  const isEmpty = session.messages.length === 0;
  const data = {
    session: { ...session, messages },
    open,
    cards,
    numbers: await numbersIn(
      ctx,
      Object.values(cards).flatMap(({ lines }) => lines),
    ),
    offer: open.length > 0 ? null : offerOf(conversation, linked),
    suggestions: isEmpty ? suggestionsFor(session) : [],
    example: (isEmpty ? (await exampleNames(ctx, me.user_id, null)).T : undefined) ?? null,
    isRules: ctx.config.AI_PROVIDER === 'rules',
    q: query,
    found,
    rejected,
    messageId: newId(),
  };
  return { view: 'agent/session', title: session.title, data, noticePlaces: Object.keys(cards).map(buildAnchor) };
}
