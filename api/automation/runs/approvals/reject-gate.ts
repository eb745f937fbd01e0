import { run } from '../../../../db/statement.js';
import { type Context, inTransaction, requireUser, callerJson } from '../../../platform/context.js';
import { buildError, settle } from '../record/rules.js';
import { publish } from '../execution/publish.js';
import { decisionChange } from './decision-change.js';
import { lockGate, otherText } from './lock-gate.js';
import { recordRejected } from './record-rejected.js';
import { rejectStatement } from './reject-gate.sql.js';
import type { RejectGate, Rejected } from './schema.js';

/**
 * Rejects the gate that a run waits at, even after its deadline. The run ends in the same commit; the workflow is only woken to
 * end too. A failure before the gate stays visible (docs/decisions/automation.md#failures-stay-visible).
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT already decided, or another text | APPROVAL_EXPIRED the run has expired
 */
export function rejectGate(ctx: Context, runId: string, { gate_index, ...given }: RejectGate): Promise<Rejected> {
  return inTransaction(ctx, async (ctx) => {
    const reason = given.reason ?? given.comment;
    const { locked, gate } = await lockGate(ctx, runId, 'rejected', gate_index ?? null);
    if (given.staged_hash != null && given.staged_hash !== gate.staged_hash) throw otherText();
    const userId = requireUser(ctx);
    const { status, skipReason } = settle(gate.failed, true);
    const end = [status, skipReason, buildError(gate.failed)];
    const change = decisionChange(locked, gate, 'rejected', { status, ...(reason ? { reason } : {}) }, reason);
    const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change), locked.incarnation];
    const values = [runId, gate.gate_index, userId, reason ?? null, ...end, ...traces];
    const [decided] = await run<{ decided_at: Date }>(ctx.db, rejectStatement, values);
    await recordRejected(ctx, locked, gate, reason);
    if (status === 'failed' && !locked.is_test) await publish(ctx, 'automation.run_failed', locked, { status });
    return {
      run_id: runId,
      decision: 'rejected',
      status,
      decided_by: userId,
      decided_at: (decided as { decided_at: Date }).decided_at.toISOString(),
    };
  });
}
