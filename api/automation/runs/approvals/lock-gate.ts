import type { AutomationRun } from '../../../../db/models/automation/automation-run.js';
import { run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, DomainError, notFound, unauthenticated } from '../../../platform/errors.js';
import { rolesFor, type Seat } from '../../../platform/access/access.js';
import type { ActionRow } from '../record/rules.js';
import type { GateRole } from '../../actions/rules.js';
import { type LOCKED_COLUMNS, lockDecidedRunStatement, lockGateStatement } from './lock-gate.sql.js';
import { authorizeGate } from './policy.js';

export interface LockedGate {
  gate_index: number;
  required_role: GateRole;
  required_approvals: number;
  excluded: string[];
  requested_at: Date;
  expires_at: Date;
  expired: boolean;
  decision: 'approved' | 'rejected' | null;
  decided_by_name: string | null;
  decided_at: Date | null;
  /** Failed actions of the run; all precede the gate. */
  failed: ActionRow[];
  automation_deleted: boolean;
  /** Whether the staged actions could run in the creator's name. */
  creator_authorized: boolean;
  /** What the gate releases; null until it is staged. */
  staged: string | null;
  staged_hash: string;
  /** Only a signed-in person decides, no token. */
  signed_in: boolean;
  /** A change of a target after the approval opens it again. */
  asks_again: boolean;
}

export type LockedRun = Pick<AutomationRun, (typeof LOCKED_COLUMNS)[number]>;

/** Error for a decision about another text than the gate holds. */
export const otherText = () => conflict('The gate releases something else than you have read');

/** Error for a gate past its deadline. */
export const approvalExpired = (runId: string, gate: LockedGate) =>
  new DomainError('APPROVAL_EXPIRED', `This approval expired at ${gate.expires_at.toISOString()}`, {
    detail: `Gate ${gate.gate_index} of run ${runId} expired; reject it or replay the run`,
  });

/** @throws APPROVAL_EXPIRED | RESOURCE_CONFLICT with the decision, who made it and the time */
function checkState(decision: 'approved' | 'rejected', locked: LockedRun, gate: LockedGate | undefined): LockedGate {
  if (gate && locked.status === 'expired') throw approvalExpired(locked.run_id, gate);
  if (gate?.decision) {
    throw conflict(
      `Gate ${gate.gate_index} was ${gate.decision} by ${gate.decided_by_name} at ${gate.decided_at?.toISOString()}`,
    );
  }
  if (!gate || locked.status !== 'paused') throw conflict(`The run is ${locked.status} and has no pending approval`);
  if (decision === 'approved' && gate.expired) throw approvalExpired(locked.run_id, gate);
  return gate;
}

/**
 * Locks a run and returns the gate that the caller may decide. Checks existence, then role, then state: a caller without the role
 * learns nothing about the state (docs/decisions/gate.md#order-of-checks).
 * @throws RESOURCE_NOT_FOUND | AUTHENTICATION_REQUIRED suspended during the request | PERMISSION_DENIED role, or a token where only a
 * signed-in person decides | APPROVAL_EXPIRED |
 * RESOURCE_CONFLICT already decided
 */
export async function lockGate(
  ctx: Context,
  runId: string,
  decision: 'approved' | 'rejected',
  gateIndex: number | null,
): Promise<{ locked: LockedRun; gate: LockedGate }> {
  const userId = requireUser(ctx);
  const [locked] = await run<LockedRun & { seat: Seat | null; is_active: boolean }>(ctx.db, lockDecidedRunStatement, [
    runId,
    userId,
  ]);
  if (!locked) throw notFound('Run');
  if (!locked.is_active) throw unauthenticated();
  const [gate] = await run<LockedGate & Record<string, unknown>>(ctx.db, lockGateStatement, [
    runId,
    gateIndex,
    rolesFor('automation.write'),
  ]);
  authorizeGate(ctx, decision, locked, gate, locked.seat);
  return { locked, gate: checkState(decision, locked, gate) };
}
