import { proxyLocalActivities } from '@temporalio/workflow';
import type { MaintenanceJob, MaintenanceActivities } from './contract.js';
import { showDetails } from './show-details.js';

const { runChore } = proxyLocalActivities<MaintenanceActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3, initialInterval: '5 seconds' },
});

/** One round of one chore, started by its schedule. What it did stands in the result. */
export async function housekeeping(chore: MaintenanceJob): Promise<string> {
  const said = await runChore(chore);
  showDetails(`**${chore}**: ${said}`);
  return said;
}
