import { type Ability, authorize, isAdmitted, isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import type { Risk } from '../../../gate/contract/action-type.js';
import { authorizeDecision, type Requirement, whyNot } from '../../../gate/staging/may-decide.js';

/** What a plan says about who may decide it. */
export interface DecidablePlan {
  team_id: string | null;
  token_id: string | null;
  /** Who edited it, or the plans of which it is a copy. */
  edited_by: readonly string[];
  /** Only a signed-in person decides the plans of its team. */
  signed_in: boolean;
}

/** Abilities that a decision needs, each with the caller's role in the team. */
type RequiredRoles = readonly (readonly [Ability, Seat | null])[];

/** A yes needs a role wherever the plan writes, and one more for a high risk in a team; a no only in the plan's own team. */
function neededFor(
  decision: 'approved' | 'rejected',
  { team_id }: DecidablePlan,
  risk: Risk,
  seats: ReadonlyMap<string, Seat | null>,
): RequiredRoles {
  const own = team_id === null ? null : (seats.get(team_id) ?? null);
  if (decision === 'rejected') return team_id === null ? [] : [['plan.decide', own]];
  return [
    ...[...seats.values()].map((seat) => ['plan.decide', seat] as const),
    ...(team_id !== null && risk === 'high' ? [['plan.decide_high_risk', own] as const] : []),
  ];
}

const findRequirement = (
  { team_id, token_id, edited_by, signed_in }: DecidablePlan,
  risk: Risk,
  needed: RequiredRoles,
): Requirement => ({
  has_role: needed.every(([ability, seat]) => isAllowed(ability, seat)),
  excluded: team_id !== null && risk === 'high' ? edited_by : [],
  signed_in,
  token_id,
});

/** Whether the caller may confirm a plan of this risk. `seats`: the caller's roles in the teams that it changes. */
export const mayConfirm = (ctx: Context, plan: DecidablePlan, risk: Risk, seats: ReadonlyMap<string, Seat | null>): boolean =>
  isAdmitted('plan.decide', ctx.actor) &&
  whyNot(ctx, 'approved', findRequirement(plan, risk, neededFor('approved', plan, risk, seats))) === null;

/**
 * Rejects a caller who may not decide a plan: a caller without a role learns nothing about its state (docs/decisions/agent.md#risk-of-a-part-of-a-plan).
 * @throws PERMISSION_DENIED role, an editor of a high risk, the token that proposed it, or a token where only a signed-in person decides
 */
export function authorizePlan(
  ctx: Context,
  decision: 'approved' | 'rejected',
  plan: DecidablePlan,
  risk: Risk,
  seats: ReadonlyMap<string, Seat | null>,
): void {
  const needed = neededFor(decision, plan, risk, seats);
  authorizeDecision(ctx, decision, findRequirement(plan, risk, needed), {
    role: () => {
      for (const [ability, seat] of needed) authorize(ability, seat);
    },
    own: () => {
      throw forbidden('The editor of a plan of high risk may not confirm it', { extra: { reason: 'edited_by_you' } });
    },
    own_token: () => {
      throw forbidden('A token cannot confirm what it has proposed');
    },
  });
}
