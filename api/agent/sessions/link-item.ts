import { AgentLink } from '../../../db/models/agent-session.js';
import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, invalid, notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { createAgentSession } from './create-session.js';
import { lockAgentSession } from './load-session.js';
import {
  type CreateSession,
  type Linked,
  type LinkItem,
  type LinkParams,
  type LinkType,
  MAX_LINKS,
  type Unlinked,
} from './schema.js';
import { linkableItemStatement } from './session.sql.js';

interface Linkable extends Record<string, unknown> {
  title: string;
  team_id: string;
  project_id: string | null;
  seat: Seat | null;
  is_idea: boolean;
}

/** Types under which one item may be linked: an idea is a note of that kind. */
const listNames = (type: LinkType): LinkType[] => (type === 'idea' || type === 'note' ? ['idea', 'note'] : [type]);

/** Records who lets the agent read an item, or takes that back, for the item's team. */
const recordLink = (
  ctx: Context,
  action: 'link' | 'unlink',
  sessionId: string,
  { item_type, item_id, team_id }: LinkItem & { team_id: string | null },
) =>
  recordChange(ctx, {
    team_id,
    feature: 'ai_agent',
    action,
    entity_type: 'agent_session',
    entity_id: sessionId,
    details: { item_type, item_id },
  });

/**
 * Returns the live item of a link, which the caller may let the agent read.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member of its team, or a guest | INVALID_REQUEST a note that is no idea
 */
export async function findLinkable(ctx: Context, { item_type, item_id }: LinkItem): Promise<Linkable> {
  const [item] = await run<Linkable>(ctx.db, linkableItemStatement, [item_id, item_type, requireUser(ctx)]);
  if (!item) throw notFound('Item');
  authorize('agent.link', item.seat);
  if (item_type === 'idea' && !item.is_idea) throw invalid('The item is a note that is no idea; link it with item_type note');
  return item;
}

/**
 * Lets the agent read an item in a session of the caller. Repeating it changes nothing, also if the idea was linked as a note.
 * @throws RESOURCE_NOT_FOUND no such session or item | INVALID_REQUEST a note that is no idea | PERMISSION_DENIED not a member of the item's team, or a guest
 * | RESOURCE_CONFLICT the session has too many links
 */
export function linkItem(ctx: Context, sessionId: string, link: LinkItem): Promise<Linked> {
  return inTransaction(ctx, async (ctx) => {
    const { item_type, item_id } = link;
    await lockAgentSession(ctx, sessionId);
    const item = await findLinkable(ctx, link);
    const known = await AgentLink.query(ctx.db)
      .where({ session_id: sessionId, item_id })
      .whereIn('item_type', listNames(item_type))
      .first();
    const key = { session_id: sessionId, item_type: (known?.item_type as LinkType | undefined) ?? item_type, item_id };
    if (!known && (await AgentLink.query(ctx.db).where({ session_id: sessionId }).resultSize()) >= MAX_LINKS)
      throw conflict(`A session links at most ${MAX_LINKS} items; remove one first`);
    const { linked_at } =
      known ??
      (await AgentLink.query(ctx.db)
        .insert({ ...key, linked_by: requireUser(ctx) })
        .returning('*'));
    await recordLink(ctx, 'link', sessionId, { ...link, team_id: item.team_id });
    return { ...key, title: item.title, linked: true, linked_at: linked_at.toISOString() };
  });
}

/** Lets the agent read an item in a session without links; changes nothing in one that has some. @throws the errors of `linkItem` */
export async function linkFirst(ctx: Context, sessionId: string, link: LinkItem): Promise<void> {
  const links = await AgentLink.query(ctx.db).where({ session_id: sessionId }).resultSize();
  if (links === 0) await linkItem(ctx, sessionId, link);
}

/** Creates a session of the caller in which the agent may read an item. @throws the errors of `createAgentSession` and `linkItem` */
export function openSession(ctx: Context, input: CreateSession, link: LinkItem | undefined): Promise<string> {
  return inTransaction(ctx, async (ctx) => {
    const { session_id } = await createAgentSession(ctx, input);
    if (link) await linkItem(ctx, session_id, link);
    return session_id;
  });
}

/** Lets the agent read all of these items or none. @throws the errors of `linkItem` */
export function linkItems(ctx: Context, sessionId: string, links: readonly LinkItem[]): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    for (const link of links) await linkItem(ctx, sessionId, link);
  });
}

/**
 * Takes an item out of a session of the caller. Needs no right in the item's team: it only takes away.
 * @throws RESOURCE_NOT_FOUND no such session, or the item is not linked
 */
export function unlinkItem(ctx: Context, { session_id, item_type, item_id }: LinkParams): Promise<Unlinked> {
  return inTransaction(ctx, async (ctx) => {
    await lockAgentSession(ctx, session_id);
    const removed = await AgentLink.query(ctx.db)
      .delete()
      .where({ session_id, item_id })
      .whereIn('item_type', listNames(item_type));
    if (removed === 0) throw notFound('Linked item');
    await recordLink(ctx, 'unlink', session_id, { item_type, item_id, team_id: null });
    return { success: true, session_id, item_type, item_id };
  });
}
