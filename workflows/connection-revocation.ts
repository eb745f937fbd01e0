import { ActivityFailure, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { outboundQueue } from './contracts/queues.js';
import type { RevocationActivities } from './contracts/revocation-contract.js';
import { showDetails } from './show-details.js';

/**
 * Revokes the tokens of a deleted connection at its service, with retries for a day. Completes normally even if the service was
 * never reachable (docs/decisions/integrations.md#token-revocation).
 */
export async function connectionRevocation(revocationId: string): Promise<string> {
  const { revokeConnection } = proxyActivities<RevocationActivities>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '45 seconds',
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '2 seconds', maximumInterval: '1 hour' },
  });
  showDetails('Revoking tokens');
  let outcome: string;
  try {
    outcome = await revokeConnection(revocationId);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    outcome = 'not revoked: the service was unavailable for a day';
  }
  showDetails(`Tokens of the connection: ${outcome}`);
  return outcome;
}
