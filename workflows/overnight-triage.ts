import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { TriageActivities, TriageResult } from './contracts/triage-contract.js';
import { showDetails } from './show-details.js';
import { triageLine } from './triage-line.js';

const { triageNight } = proxyLocalActivities<TriageActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  summary: 'Stage the plan of the night',
});

/** Set by the server on workflows of a Schedule: the nominal time, however late it is. */
const NOMINAL = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/** One night of a team's triage: stages a plan, or finds nothing to do. The result is the outcome. */
export async function overnightTriage(teamId: string): Promise<TriageResult> {
  const { typedSearchAttributes, startTime } = workflowInfo();
  // Without a Schedule an operator started it: the night of that moment.
  const nominal = (typedSearchAttributes.get(NOMINAL) ?? startTime).toISOString();
  const result = await triageNight(teamId, nominal);
  showDetails(`**${nominal.slice(0, 16).replace('T', ' ')} UTC**: ${triageLine(result)}`);
  return result;
}
