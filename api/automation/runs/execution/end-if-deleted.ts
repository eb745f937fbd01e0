import { Automation } from '../../../../db/models/automation/automation.js';
import type { Services } from '../../../platform/context.js';
import type { RunStatus } from '../record/rules.js';
import { endRun } from './end-run.js';
import type { RunRow } from './load-run.js';

/**
 * Ends the run if its automation was deleted. The deletion itself cancels waiting runs; a run that was acting at that moment ends
 * here, before it waits, sends a request, or continues after one. Called in the transaction that locks the run: a concurrent
 * deletion waits and then cancels the run if it waits. Returns the final status, or undefined if the automation exists.
 */
export async function endIfDeleted(services: Services, run: RunRow): Promise<RunStatus | undefined> {
  const { automation_id, automation_name } = run;
  const deleted = Automation.query(services.db).findById(automation_id).whereNotNull('deleted_at').select('automation_id');
  if (!(await deleted)) return undefined;
  const summary = `ended a run of ${automation_name}: the automation has been deleted`;
  await endRun(services, run, { status: 'cancelled', feature: 'automations', action: 'execute', summary });
  return 'cancelled';
}
