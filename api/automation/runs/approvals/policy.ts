import { hasRoleAtLeast, isAdmitted, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { authorizeAccess } from '../../definitions/policy.js';
import type { GateRole } from '../../actions/rules.js';
import { authorizeDecision, type Requirement, whyNot } from '../../../gate/staging/may-decide.js';

interface GatedRun {
  team_id: string | null;
  /** Creator of the automation; the staged actions run as this user. */
  creator_id: string;
}

interface GateRequirement {
  required_role: GateRole;
  /** Users whose approval does not count because the run is their own (excluded.sql.ts). */
  excluded: readonly string[];
  /** Only a signed-in person decides. */
  signed_in: boolean;
}

/** A personal automation has no team and therefore no roles: its creator decides its gates. */
const findRequirement = (
  run: GatedRun,
  { required_role, excluded, signed_in }: GateRequirement,
  seat: Seat | null,
): Requirement => ({
  has_role: run.team_id === null || hasRoleAtLeast(seat, required_role),
  excluded,
  signed_in,
  token_id: null,
});

/** Returns whether the caller can approve this gate; lists of approvals show it as `can_decide`. */
export const mayApprove = (ctx: Context, run: GatedRun, gate: GateRequirement, seat: Seat | null): boolean =>
  isAdmitted('gate.decide', ctx.actor) && whyNot(ctx, 'approved', findRequirement(run, gate, seat)) === null;

/**
 * Rejects callers who may not decide this gate, before the response reveals anything about its state. Users may always reject
 * their own run: a rejection only prevents effects.
 * @throws PERMISSION_DENIED
 */
export function authorizeGate(
  ctx: Context,
  decision: 'approved' | 'rejected',
  run: GatedRun,
  gate: GateRequirement | undefined,
  seat: Seat | null,
): void {
  authorizeAccess('gate.decide', { team_id: run.team_id, created_by: run.creator_id }, { userId: requireUser(ctx), seat });
  if (!gate) return;
  const own =
    'This gate requires the approval of someone other than the automation’s creator, the author of this version and the initiator of the run';
  const refuse = (message: string) => () => {
    throw forbidden(message);
  };
  authorizeDecision(ctx, decision, findRequirement(run, gate, seat), {
    role: refuse(`This gate requires the ${gate.required_role} role in the team`),
    own: refuse(own),
    own_token: refuse(own),
  });
}
