import { hasRoleAtLeast, type Seat } from '../../core/access.js';
import { forbidden } from '../../core/errors.js';
import { authorizeAccess } from '../../automations/policy.js';
import type { GateRole } from '../rules.js';

interface GatedRun {
  team_id: string | null;
  /** The creator of the automation, as whom the tail runs. */
  creator_id: string;
}

interface GateRequirement {
  required_role: GateRole;
  /** People whose approval does not count, because the run is their own (excluded.sql.ts). */
  excluded: readonly string[];
}

interface Caller {
  userId: string;
  seat: Seat | null;
}

/** Gates of a personal automation are its creator's whatever role they name: there is no team to have a role in (F7). */
const hasRole = (run: GatedRun, gate: GateRequirement, { seat }: Caller): boolean =>
  run.team_id === null || hasRoleAtLeast(seat, gate.required_role);

/** True for who may open this gate; what the approvals list shows as `can_decide`. */
export const mayApprove = (run: GatedRun, gate: GateRequirement, caller: Caller): boolean =>
  hasRole(run, gate, caller) && !gate.excluded.includes(caller.userId);

/**
 * Refuses who may not decide this gate, before anything is said about its state (durability notes, 3.2). Rejecting one's own
 * run is always allowed: it only keeps things from happening.
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
  if (!hasRole(run, gate, caller)) throw forbidden(`This gate needs the ${gate.required_role} role in the team`);
  if (decision === 'approved' && !mayApprove(run, gate, caller)) {
    throw forbidden(
      'This gate needs the approval of someone who neither created the automation, nor wrote this version of it, nor started the run or what caused it',
    );
  }
}
