import { proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Chore, ChoreActivities } from './contract.js';

const { runChore } = proxyLocalActivities<ChoreActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3, initialInterval: '5 seconds' },
});

/** One round of one chore, started by its schedule. What it did stands in the result. */
export async function housekeeping(chore: Chore): Promise<string> {
  const said = await runChore(chore);
  setCurrentDetails(`**${chore}**: ${said}`);
  return said;
}
