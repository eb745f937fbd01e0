import { proxyLocalActivities } from '@temporalio/workflow';
import type { MaintenanceJob, MaintenanceActivities } from './contracts/maintenance-contract.js';
import { showDetails } from './show-details.js';

const { runMaintenanceJob } = proxyLocalActivities<MaintenanceActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3, initialInterval: '5 seconds' },
});

/** Performs one maintenance job, started by its Schedule. The result says what it did. */
export async function housekeeping(job: MaintenanceJob): Promise<string> {
  const outcome = await runMaintenanceJob(job);
  showDetails(`**${job}**: ${outcome}`);
  return outcome;
}
