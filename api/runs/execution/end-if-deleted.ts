import type { Services } from '../../core/context.js';
import type { RunStatus } from '../rules.js';
import { endRun } from './end-run.js';
import type { RunRow } from './load-run.js';

/**
 * Deleting an automation cancels what waits; a run that was acting at that moment ends here, before it could wait for a person, a
 * delay or its next try, or send a request, or go on after one. In the transaction that holds the run: a deletion under way waits
 * for it, and takes what then waits with it.
 * Returns how it ended, undefined while the automation lives.
 * Source: durability notes, 3.2.
 */
export async function endIfDeleted(services: Services, run: RunRow): Promise<RunStatus | undefined> {
  const { automation_id, automation_name } = run;
  const automation = services.db('automations').where({ automation_id }).whereNotNull('deleted_at');
  if (!(await automation.first<object | undefined>('automation_id'))) return undefined;
  const summary = `ended a run of ${automation_name}: the automation has been deleted`;
  await endRun(services, run, { status: 'cancelled', feature: 'automations', action: 'execute', summary });
  return 'cancelled';
}
