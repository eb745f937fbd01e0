import { run } from '../../../db/statement.js';
import { hasRoleAtLeast, SEATS } from '../../core/access.js';
import { type Context, inTransaction, userOf, callerJson } from '../../core/context.js';
import { conflict } from '../../core/errors.js';
import { approveStatement } from './approve-gate.sql.js';
import { decisionChange } from './decision-change.js';
import { type LockedGate, lockGate, lapsed } from './lock-gate.js';
import type { Approved } from './schema.js';

/**
 * The tail runs as the automation's creator (contract, section 3): without them it could not act at all.
 * @throws RESOURCE_CONFLICT `creator_not_authorized`, or the automation is gone
 */
function checkCreator({ automation_deleted, creator_authorized }: LockedGate): void {
  if (automation_deleted) throw conflict('The automation has been deleted');
  if (creator_authorized) return;
  throw conflict('The automation’s creator may no longer act in this team, so nothing can run in their name', {
    detail: 'creator_not_authorized',
  });
}

const rolesOf = (gate: LockedGate): string[] => SEATS.filter((seat) => hasRoleAtLeast(seat, gate.required_role));

/**
 * Approves the gate that a run waits at. With enough approvals the run goes on in the same commit; the workflow is only woken.
 * The same person again, while more are needed, changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED role, or one's own run where the gate forbids that | APPROVAL_EXPIRED
 * | RESOURCE_CONFLICT already decided, or the creator may no longer act
 * Source: contract, section 3, automation run; decisions F7, F9; durability notes, 3.2.
 */
export function approveGate(ctx: Context, runId: string, gateIndex: number | null): Promise<Approved> {
  return inTransaction(ctx, async (ctx) => {
    const { held, gate } = await lockGate(ctx, runId, 'approved', gateIndex);
    checkCreator(gate);
    const userId = userOf(ctx);
    const values = [runId, gate.gate_index, userId, held.team_id, rolesOf(gate)];
    const traces = [
      JSON.stringify(callerJson(ctx)),
      JSON.stringify(decisionChange(held, gate, 'approved')),
      held.incarnation,
      gate.excluded,
    ];
    const [approval] = await run<{ needed: number; decided_at: Date }>(ctx.db, approveStatement, [...values, ...traces]);
    if (!approval) throw lapsed(runId, gate);
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
