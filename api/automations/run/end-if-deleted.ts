import type { Services } from '../../core/context.js';
import type { RunStatus } from '../rules.js';
import { endRun } from './end-run.js';
import type { RunRow } from './load-run.js';

/**
 * Deleting an automation cancels what waits; a run that was acting at that moment ends here, before it could wait for a person, a
 * delay or its next try. In the transaction that holds the run. Returns how it ended, undefined while the automation lives.
 * Source: durability notes, 3.2.
 */
export async function endIfDeleted(services: Services, run: RunRow): Promise<RunStatus | undefined> {
  const { automation_id, automation_name } = run;
  // Asked for whatever it says, so that a deletion under way is waited for: only a row that is held is read as it is by then.
  const held = services.db('automations').where({ automation_id }).forKeyShare();
  const automation = await held.first<{ deleted_at: Date | null } | undefined>('deleted_at');
  if (automation && automation.deleted_at === null) return undefined;
  const summary = `ended a run of ${automation_name}: the automation has been deleted`;
  await endRun(services, run, { status: 'cancelled', feature: 'automations', action: 'execute', summary });
  return 'cancelled';
}
