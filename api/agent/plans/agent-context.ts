import type { AgentActor } from '../../platform/access/actor.js';
import { type Context, requireUser } from '../../platform/context.js';

/** The plan in whose name the agent acts. */
export interface ActingPlan {
  actionId: string;
  planHash: string;
  depth: number;
  /** Ids of the users behind it, with those for whom it was staged. */
  behind: readonly string[];
}

/** Returns the users behind a plan that the caller confirms, besides the caller: an impersonating administrator is one of them. */
export function othersBehind({ actor }: Context, behind: readonly string[]): string[] {
  const impersonator = actor.type === 'user' && actor.impersonatorId !== null ? [actor.impersonatorId] : [];
  const own = actor.type === 'system' ? null : actor.userId;
  return [...new Set([...behind, ...impersonator])].filter((id) => id !== own);
}

/**
 * Returns the context in which the agent performs one action of a plan: as the calling user, with this user's permissions.
 * @throws Error for the service itself, which confirms nothing
 */
export function agentContext(ctx: Context, { actionId, planHash, depth, behind }: ActingPlan, index: number): Context {
  const { actor } = ctx;
  const userId = requireUser(ctx);
  if (actor.type === 'system') throw new Error('The service confirms no plan');
  const agent: AgentActor = {
    type: 'agent',
    userId,
    email: actor.email,
    role: actor.role,
    actionId,
    planHash,
    index,
    by: actor.type === 'pat' ? 'pat' : 'user',
    depth,
    causeUserIds: othersBehind(ctx, behind),
  };
  return { ...ctx, actor: agent };
}
