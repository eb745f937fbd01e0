import { proxyLocalActivities } from '@temporalio/workflow';
import type { MaintenanceJob, MaintenanceActivities } from './contract.js';
import { showDetails } from './show-details.js';

const { runChore } = proxyLocalActivities<MaintenanceActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3, initialInterval: '5 seconds' },
});

/** Performs one maintenance job, started by its Schedule. The result says what it did. */
export async function housekeeping(chore: MaintenanceJob): Promise<string> {
  const outcome = await runChore(chore);
  showDetails(`**${chore}**: ${outcome}`);
  return outcome;
}
