import { run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, DomainError, notFound, unauthenticated } from '../../../platform/errors.js';
import { enqueue } from '../../../platform/outbox/outbox.js';
import type { PlanSource } from '../../../gate/work-actions/action.js';
import type { Risk } from '../../../gate/contract/action-type.js';
import type { PlanStatus } from '../schema.js';
import { lockPlanStatement, standingStatement } from './decide.sql.js';

/** A plan whose row is locked until the commit. */
export interface LockedPlan {
  action_id: string;
  session_id: string;
  owner_id: string | null;
  team_id: string | null;
  project_id: string | null;
  team_ids: string[];
  source: PlanSource;
  staged_for: string;
  token_id: string | null;
  status: PlanStatus;
  summary: string;
  risk: Risk;
  canonical: string;
  plan_hash: Buffer;
  depth: number;
  expires_at: Date;
  incarnation: number;
  decided_at: Date | null;
  decided_by: string | null;
  decided_by_name: string | null;
  /** Users behind the plan. */
  behind_user_ids: string[];
  /** Who edited it, or the plans of which it is a copy. */
  edited_by: string[];
  /** The applied plan that it takes back. */
  undo_of: string | null;
  /** It has expired by the database's clock. */
  is_past: boolean;
  /** Only a signed-in person decides the plans of its team. */
  signed_in: boolean;
}

interface Standing extends Record<string, unknown> {
  team_id: string;
  seat: Seat | null;
  is_past: boolean;
  is_active: boolean;
  /** Only a signed-in person decides the plans of this team. */
  signed_in: boolean | null;
}

/** Returns the users behind a plan; an earlier version of the service stored only for whom it was staged. */
export const peopleOfPlan = ({ staged_for, behind_user_ids }: LockedPlan): string[] => [staged_for, ...behind_user_ids];

const notFoundPlan = () => notFound('Plan');

/**
 * Locks a plan that the caller may see, and their memberships in every team that it touches. Foreign plans do not exist for the caller.
 * @throws RESOURCE_NOT_FOUND | AUTHENTICATION_REQUIRED suspended during the request | PERMISSION_DENIED a guest of the plan's team
 */
export async function lockPlan(
  ctx: Context,
  actionId: string,
  sessionId: string | null,
): Promise<{ plan: LockedPlan; seats: Map<string, Seat | null> }> {
  const userId = requireUser(ctx);
  const [row] = await run<Omit<LockedPlan, 'is_past' | 'signed_in'> & Record<string, unknown>>(ctx.db, lockPlanStatement, [
    actionId,
    sessionId,
  ]);
  if (!row || (row.owner_id !== null && row.owner_id !== userId)) throw notFoundPlan();
  const teams = [...new Set([...row.team_ids, ...(row.team_id === null ? [] : [row.team_id])])].sort();
  const standing = await run<Standing>(ctx.db, standingStatement, [teams, userId, actionId]);
  if (standing.some(({ is_active }) => !is_active)) throw unauthenticated();
  const seats = new Map(standing.map(({ team_id, seat }) => [team_id, seat]));
  if (row.team_id !== null) {
    const seat = seats.get(row.team_id) ?? null;
    if (seat === null) throw notFoundPlan();
    authorize('plan.decide', seat);
  }
  const is_past = standing.some((one) => one.is_past);
  const signed_in = standing.some((one) => one.signed_in === true);
  return { plan: { ...row, is_past, signed_in } as LockedPlan, seats };
}

/** @throws RESOURCE_CONFLICT the plan is closed; the message says how, by whom and when */
export function checkOpen(plan: LockedPlan): void {
  const { status, decided_by_name, decided_at } = plan;
  if (status === 'staged' || status === 'expired') return;
  if (status === 'stale') {
    throw conflict('The plan is stale: what it would change has changed', { extra: { plan_status: status } });
  }
  const by = decided_by_name === null ? '' : ` by ${decided_by_name}`;
  throw conflict(`The plan was ${status}${by} at ${decided_at?.toISOString()}`, { extra: { plan_status: status } });
}

/** Error for a plan past its deadline. */
export const planExpired = ({ expires_at }: LockedPlan) =>
  new DomainError('PLAN_EXPIRED', `The plan expired at ${expires_at.toISOString()}`, { extra: { plan_status: 'expired' } });

/** Wakes the plan's workflow after the commit; it reads the row and obeys it. */
export const wakePlan = (
  ctx: Context,
  { action_id, incarnation }: Pick<LockedPlan, 'action_id' | 'incarnation'>,
): Promise<void> => enqueue(ctx, 'plan.wake', action_id, { action_id, incarnation });
