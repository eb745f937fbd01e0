import { proxyLocalActivities } from '@temporalio/workflow';
import type { Chore, ChoreActivities } from './contract.js';
import { showDetails } from './show-details.js';

const { runChore } = proxyLocalActivities<ChoreActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3, initialInterval: '5 seconds' },
});

/** One round of one chore, started by its schedule. What it did stands in the result. */
export async function housekeeping(chore: Chore): Promise<string> {
  const said = await runChore(chore);
  showDetails(`**${chore}**: ${said}`);
  return said;
}
