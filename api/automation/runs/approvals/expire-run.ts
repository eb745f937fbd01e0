import { RunAction } from '../../../../db/models/automation/run-action.js';
import { defineStatement, run as sql } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { buildError } from '../record/rules.js';
import { endRun } from '../execution/end-run.js';
import { lockRun } from '../execution/load-run.js';

/** $1 = run id, $2 = gate index. */
const lockStatement = defineStatement({
  name: 'lock_undecided_gate',
  text: 'select from gates where run_id = $1 and gate_index = $2 and decision is null for update',
});

/**
 * Ends a paused run whose expired gate nobody rejected in time; the staged actions never run. The run ends `expired`, or `failed`
 * if an action failed before the gate (docs/decisions/automation.md#failures-stay-visible).
 */
export async function expireRun(services: Services, runId: string, index: number): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    const [gate] = await sql(db, lockStatement, [runId, index]);
    if (run?.status !== 'paused' || !gate) return;
    const actions = RunAction.query(db).where({ run_id: runId }).orderBy('index').select('index', 'type', 'status', 'error');
    const error = buildError(await actions);
    await endRun({ ...services, db }, run, {
      status: error ? 'failed' : 'expired',
      error,
      feature: 'approvals',
      action: 'expire',
      summary: 'closed a run whose approval expired',
      details: { gate_index: index },
    });
  });
}
