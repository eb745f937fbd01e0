import type { Services } from '../../../platform/context.js';
import { endRun } from './end-run.js';
import { lockRun } from './load-run.js';

/** Turns a permanently failed dispatch into a failed run, which the dead letter lists. */
export async function failDispatch(services: Services, runId: string): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    if (!run || run.finished_at) return;
    await endRun({ ...services, db }, run, {
      status: 'failed',
      error: { code: 'dispatch_failed', message: 'The workflow could not be started' },
      feature: 'automations',
      action: 'execute',
      summary: `could not start a run of ${run.automation_name}`,
    });
  });
}
