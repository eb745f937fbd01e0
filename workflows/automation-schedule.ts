import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities } from './contracts/run-contract.js';
import { showDetails } from './show-details.js';

const { fireSchedule } = proxyLocalActivities<ScheduleActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

/** Set by the server on workflows of a Schedule: the nominal time, however late it is. */
const NOMINAL = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/** Handles one time of an automation's schedule: creates its run, which is a workflow of its own. The result is the outcome. */
export async function automationSchedule(automationId: string): Promise<string> {
  const nominal = workflowInfo().typedSearchAttributes.get(NOMINAL);
  if (!nominal) return 'nothing to do: no schedule started this';
  const outcome = await fireSchedule(automationId, nominal.toISOString());
  showDetails(`**${nominal.toISOString()}**: ${outcome}`);
  return outcome;
}
