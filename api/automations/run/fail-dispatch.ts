import type { Services } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import { lockRun, systemContext } from './load-run.js';

/** A dispatch that was given up becomes a failed run, listed in the dead letter (contract, section 3). */
export async function failDispatch(services: Services, runId: string): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    if (!run || run.finished_at) return;
    const error = { code: 'dispatch_failed', message: 'The run could not be handed to the workflow service' };
    await db('run_actions')
      .where({ run_id: runId })
      .whereIn('status', ['pending', 'running', 'staged'])
      .update({ status: 'skipped' });
    await db('automation_runs')
      .where({ run_id: runId })
      .update({ status: 'failed', error: JSON.stringify(error), finished_at: db.fn.now() });
    await recordChange(systemContext({ ...services, db }, run), {
      team_id: run.team_id,
      project_id: run.project_id,
      feature: 'automations',
      action: 'execute',
      severity: 'MEDIUM',
      outcome: 'failure',
      entity_type: 'automation_run',
      entity_id: runId,
      title: run.automation_name,
      summary: `could not start a run of ${run.automation_name}`,
      details: error,
    });
  });
}
