import { type Context, inTransaction, userOf } from '../../core/context.js';
import { enqueue } from '../../core/outbox.js';
import { type ActionStatus, errorOf, settle } from '../rules.js';
import { publish } from '../run/publish.js';
import { type HeldRun, holdGate } from './hold-gate.js';
import { recordDecision } from './record-decision.js';
import type { Decide, Rejected } from './schema.js';

interface ActionRow {
  index: number;
  type: string;
  status: ActionStatus;
  error: { code: string; message: string } | null;
}

/** Ends the run where it stands: nothing of the tail happens, and what failed before the gate is not hidden (F7). */
async function end(ctx: Context, { run_id }: HeldRun) {
  await ctx.db('run_actions').where({ run_id }).whereIn('status', ['pending', 'running', 'staged']).update({ status: 'skipped' });
  const actions = await ctx
    .db('run_actions')
    .where({ run_id })
    .orderBy('index')
    .select<ActionRow[]>('index', 'type', 'status', 'error');
  const { status, skipReason } = settle(actions, true);
  const error = status === 'failed' ? JSON.stringify(errorOf(actions)) : null;
  await ctx
    .db('automation_runs')
    .where({ run_id })
    .update({ status, skip_reason: skipReason, error, finished_at: ctx.db.raw('clock_timestamp()') });
  return status;
}

/**
 * Rejects the gate that a run waits at, also after its time has passed. The run ends in the same commit; the workflow is only
 * woken to end too.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | RESOURCE_CONFLICT already decided | APPROVAL_EXPIRED the run has expired
 * Source: contract, section 3, automation run; decisions F7, F9; durability notes, 3.2.
 */
export function rejectGate(ctx: Context, runId: string, { gate_index, reason }: Decide): Promise<Rejected> {
  return inTransaction(ctx, async (ctx) => {
    const { held, gate } = await holdGate(ctx, runId, 'rejected', gate_index ?? null);
    const userId = userOf(ctx);
    const place = { run_id: runId, gate_index: gate.gate_index };
    // The run's row is held, so the gate is still undecided; the condition stays, because the row decides (R2).
    const [decided] = await ctx
      .db('gates')
      .where(place)
      .whereNull('decision')
      .update({ decision: 'rejected', decided_by: userId, decided_at: ctx.db.raw('clock_timestamp()'), reason: reason ?? null })
      .returning<{ decided_at: Date }[]>('decided_at');
    const status = await end(ctx, held);
    await recordDecision(ctx, 'reject', held, gate, { status, ...(reason ? { reason } : {}) });
    if (status === 'failed' && !held.is_test) await publish(ctx, 'automation.run_failed', held, { status });
    await enqueue(ctx, 'run.wake', runId, { ...place, incarnation: held.incarnation });
    return {
      run_id: runId,
      decision: 'rejected',
      status,
      decided_by: userId,
      decided_at: (decided as { decided_at: Date }).decided_at.toISOString(),
    };
  });
}
