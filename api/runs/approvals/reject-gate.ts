import { run } from '../../../db/statement.js';
import { type Context, inTransaction, userOf, callerJson } from '../../core/context.js';
import { errorOf, settle } from '../rules.js';
import { publish } from '../execution/publish.js';
import { decisionChange } from './decision-change.js';
import { lockGate } from './lock-gate.js';
import { rejectStatement } from './reject-gate.sql.js';
import type { Decide, Rejected } from './schema.js';

/**
 * Rejects the gate that a run waits at, also after its time has passed. The run ends in the same commit; the workflow is only
 * woken to end too. What failed before the gate is not hidden (F7).
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT already decided | APPROVAL_EXPIRED the run has expired
 * Source: contract, section 3, automation run; decisions F7, F9; durability notes, 3.2.
 */
export function rejectGate(ctx: Context, runId: string, { gate_index, reason }: Decide): Promise<Rejected> {
  return inTransaction(ctx, async (ctx) => {
    const { held, gate } = await lockGate(ctx, runId, 'rejected', gate_index ?? null);
    const userId = userOf(ctx);
    const { status, skipReason } = settle(gate.failed, true);
    const end = [status, skipReason, errorOf(gate.failed)];
    const change = decisionChange(held, gate, 'rejected', { status, ...(reason ? { reason } : {}) });
    const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change), held.incarnation];
    const values = [runId, gate.gate_index, userId, reason ?? null, ...end, ...traces];
    const [decided] = await run<{ decided_at: Date }>(ctx.db, rejectStatement, values);
    if (status === 'failed' && !held.is_test) await publish(ctx, 'automation.run_failed', held, { status });
    return {
      run_id: runId,
      decision: 'rejected',
      status,
      decided_by: userId,
      decided_at: (decided as { decided_at: Date }).decided_at.toISOString(),
    };
  });
}
