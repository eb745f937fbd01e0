import type { Services } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import { lockRun, systemContext } from './load-run.js';

/** Ends a paused run whose lapsed gate nobody rejected in time: `expired`, nothing of the tail happens (F7). */
export async function expireRun(services: Services, runId: string, index: number): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    const gate = await db('gates')
      .where({ run_id: runId, gate_index: index })
      .whereNull('decision')
      .forUpdate()
      .first<object | undefined>();
    if (run?.status !== 'paused' || !gate) return;
    await db('run_actions')
      .where({ run_id: runId })
      .whereIn('status', ['pending', 'running', 'staged'])
      .update({ status: 'skipped' });
    await db('automation_runs').where({ run_id: runId }).update({ status: 'expired', finished_at: db.fn.now() });
    await recordChange(systemContext({ ...services, db }, run), {
      team_id: run.team_id,
      project_id: run.project_id,
      feature: 'approvals',
      action: 'expire',
      severity: 'MEDIUM',
      entity_type: 'automation_run',
      entity_id: runId,
      title: run.automation_name,
      summary: 'let an approval lapse for good',
      details: { gate_index: index },
    });
  });
}
