import { hasRoleAtLeast, type Seat } from '../../core/access.js';
import { forbidden } from '../../core/errors.js';
import { authorizeAccess } from '../../automations/policy.js';
import type { GateRole } from '../../actions/rules.js';

interface GatedRun {
  team_id: string | null;
  /** Creator of the automation; the staged actions run as this user. */
  creator_id: string;
}

interface GateRequirement {
  required_role: GateRole;
  /** Users whose approval does not count because the run is their own (excluded.sql.ts). */
  excluded: readonly string[];
}

interface Caller {
  userId: string;
  seat: Seat | null;
}

/** A personal automation has no team and therefore no roles: its creator decides its gates. */
const hasRole = (run: GatedRun, gate: GateRequirement, { seat }: Caller): boolean =>
  run.team_id === null || hasRoleAtLeast(seat, gate.required_role);

/** Returns whether the caller can approve this gate; the list of approvals shows it as `can_decide`. */
export const mayApprove = (run: GatedRun, gate: GateRequirement, caller: Caller): boolean =>
  hasRole(run, gate, caller) && !gate.excluded.includes(caller.userId);

/**
 * Rejects callers who may not decide this gate, before the response reveals anything about its state. Users may always reject
 * their own run: a rejection only prevents effects.
 * @throws PERMISSION_DENIED
 */
export function authorizeDecision(
  decision: 'approved' | 'rejected',
  run: GatedRun,
  gate: GateRequirement | undefined,
  caller: Caller,
): void {
  authorizeAccess('gate.decide', { team_id: run.team_id, created_by: run.creator_id }, caller);
  if (!gate) return;
  if (!hasRole(run, gate, caller)) throw forbidden(`This gate requires the ${gate.required_role} role in the team`);
  if (decision === 'approved' && !mayApprove(run, gate, caller)) {
    throw forbidden(
      'This gate requires the approval of someone other than the automation’s creator, the author of this version and the initiator of the run',
    );
  }
}
