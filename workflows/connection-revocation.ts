import { ActivityFailure, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { outboundQueue, type RevocationActivities } from './contract.js';
import { showDetails } from './show-details.js';

/**
 * Has a service take back the tokens of a connection that a person has ended, for as long as a day: what was decided here does not
 * wait for it. Ends normally also when nobody could be reached.
 */
export async function connectionRevocation(revocationId: string): Promise<string> {
  const { revokeConnection } = proxyActivities<RevocationActivities>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '45 seconds',
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '2 seconds', maximumInterval: '1 hour' },
  });
  showDetails('Asking the service to take the tokens back');
  let said: string;
  try {
    said = await revokeConnection(revocationId);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    said = 'given up: the service could not do it for a day';
  }
  showDetails(`Tokens of the connection: ${said}`);
  return said;
}
