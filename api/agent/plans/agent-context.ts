import type { AgentActor } from '../../core/actor.js';
import { type Context, userOf } from '../../core/context.js';

/** The plan in whose name the agent acts. */
export interface ActingPlan {
  actionId: string;
  planHash: string;
  depth: number;
  /** Id of the user for whom it was staged. */
  stagedFor: string;
}

/**
 * Returns the context in which the agent performs one action of a plan: as the calling user, with this user's permissions.
 * @throws Error for the service itself, which confirms nothing
 */
export function agentContext(ctx: Context, { actionId, planHash, depth, stagedFor }: ActingPlan, index: number): Context {
  const { actor } = ctx;
  const userId = userOf(ctx);
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
    causeUserIds: stagedFor === userId ? [] : [stagedFor],
  };
  return { ...ctx, actor: agent };
}
