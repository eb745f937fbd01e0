import { run } from '../../../../db/statement.js';
import { rolesFrom } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser, callerJson } from '../../../platform/context.js';
import { wakeDispatcher } from '../../../platform/outbox/outbox.js';
import { conflict } from '../../../platform/errors.js';
import { approveStatement } from './approve-gate.sql.js';
import { decisionChange } from './decision-change.js';
import { type LockedGate, lockGate, approvalExpired } from './lock-gate.js';
import { checkSeen } from '../staging/check-seen.js';
import { knowVersions } from '../staging/known-versions.js';
import type { ApproveGate, Approved } from './schema.js';

/**
 * The staged actions run as the automation's creator, so approval needs a creator who may act (docs/decisions/gate.md#creator-rights).
 * @throws RESOURCE_CONFLICT `creator_not_authorized`, or the automation is deleted
 */
function checkCreator({ automation_deleted, creator_authorized }: LockedGate): void {
  if (automation_deleted) throw conflict('The automation has been deleted');
  if (creator_authorized) return;
  throw conflict('The automation’s creator can no longer act in this team; the run can only be rejected', {
    detail: 'creator_not_authorized',
  });
}

/**
 * Approves the gate that a run waits at. The last approval needed sets the run to running in the same commit; the workflow is
 * only woken. A repeated approval by the same user changes nothing (docs/decisions/gate.md#gate-decisions).
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED role, or one's own run where the gate forbids that | APPROVAL_EXPIRED |
 * RESOURCE_CONFLICT already decided, another hash than the caller has read, or the creator may no longer act
 */
export function approveGate(ctx: Context, runId: string, given: ApproveGate): Promise<Approved> {
  return inTransaction(ctx, async (ctx) => {
    const { locked, gate } = await lockGate(ctx, runId, 'approved', given.gate_index ?? null);
    checkCreator(gate);
    const { staged_hash, versions } = await checkSeen(ctx, locked, gate, given);
    const userId = requireUser(ctx);
    const values = [runId, gate.gate_index, userId, locked.team_id, rolesFrom(gate.required_role)];
    const traces = [
      JSON.stringify(callerJson(ctx)),
      JSON.stringify(decisionChange(locked, { ...gate, staged_hash }, 'approved', {}, given.comment ?? null)),
      locked.incarnation,
      gate.excluded,
      given.comment ?? null,
    ];
    const [approval] = await run<{ needed: number; decided_at: Date }>(ctx.db, approveStatement, [...values, ...traces]);
    if (!approval) throw approvalExpired(runId, gate);
    wakeDispatcher(ctx);
    if (versions) await knowVersions(ctx.db, [runId, gate.gate_index], versions);
    return {
      run_id: runId,
      decision: 'approved',
      status: approval.needed === 0 ? 'running' : 'paused',
      approvals_needed: approval.needed,
      decided_by: userId,
      decided_at: approval.decided_at.toISOString(),
      gate_index: gate.gate_index,
    };
  });
}
