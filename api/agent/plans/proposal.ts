import type { ActionPlan } from './schema.js';
import type { PlanSource } from '../../gate/work-actions/action.js';
import type { Tool } from '../../gate/work-actions/catalogue.js';

/** A change that a model, a rule or an outside agent wants staged. Nothing of it is trusted. */
export interface ProposedAction {
  tool: Tool;
  /** Id of the target; absent for a creation. `"$k"` names what action k of the same proposal creates. */
  entity_id?: string | null;
  /** Fields of the operation, without the target's id and `version`. */
  params: Readonly<Record<string, unknown>>;
}

/**
 * What `stagePlan(ctx, proposal)` stages, in the caller's transaction. The dry run has the permissions of `ctx.actor`, so the caller passes
 * the context of the person that the plan is staged for.
 */
export interface Proposal {
  session: { session_id: string; owner_id: string | null; team_id: string | null };
  source: PlanSource;
  actions: readonly ProposedAction[];
  /** Hours until the plan expires. */
  lifeHours: number;
  /** Replaces `lifeHours`: a copy ends when its original would have. */
  expiresAt?: Date;
  /** `refuse`: a rejected action rejects the proposal. `leave_out`: it is left out. */
  onRefusal: 'refuse' | 'leave_out';
  /** The token that proposes; it may not confirm. */
  tokenId?: string | null;
  /** What started an autonomous session: ids and fixed names. */
  trigger?: Readonly<Record<string, unknown>> | null;
  /** Depth of the automations that caused it. */
  depth?: number;
  /** Ids of the users who caused it, besides the caller and the users behind the caller. */
  behind?: readonly string[];
  /** The applied plan that this one takes back. */
  undoneActionId?: string | null;
  /** Versions by id of task or project that the proposal builds on; by default the current ones. */
  expectedVersions?: ReadonlyMap<string, number>;
}

/** Result of staging; `plan` is null if nothing is left to change. */
export interface Staged {
  plan: ActionPlan | null;
  /** One sentence for each action that was left out or folded into another, in our words, with its index in the proposal. */
  omitted: { index: number; reason: string }[];
}
