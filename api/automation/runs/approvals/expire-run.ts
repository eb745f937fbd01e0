import type { Services } from '../../../platform/context.js';
import { type ActionRow, buildError } from '../record/rules.js';
import { endRun } from '../execution/end-run.js';
import { lockRun } from '../execution/load-run.js';

/**
 * Ends a paused run whose expired gate nobody rejected in time; the staged actions never run. The run ends `expired`, or `failed`
 * if an action failed before the gate (docs/decisions.md#failures-stay-visible).
 */
export async function expireRun(services: Services, runId: string, index: number): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    const gate = await db('gates')
      .where({ run_id: runId, gate_index: index })
      .whereNull('decision')
      .forUpdate()
      .first<object | undefined>();
    if (run?.status !== 'paused' || !gate) return;
    const actions = await db('run_actions')
      .where({ run_id: runId })
      .orderBy('index')
      .select<ActionRow[]>('index', 'type', 'status', 'error');
    const error = buildError(actions);
    await endRun({ ...services, db }, run, {
      status: error ? 'failed' : 'expired',
      error,
      feature: 'approvals',
      action: 'expire',
      summary: 'let an approval lapse for good',
      details: { gate_index: index },
    });
  });
}
