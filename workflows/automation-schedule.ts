import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities } from './contract.js';
import { showDetails } from './show-details.js';

const { fireSchedule } = proxyLocalActivities<ScheduleActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

/** Set by the server on what a Schedule starts: the time that was meant, however late it is. */
const NOMINAL = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/** The time of an automation's schedule has come: makes its run, which is a workflow of its own. What became of it is the result. */
export async function automationSchedule(automationId: string): Promise<string> {
  const nominal = workflowInfo().typedSearchAttributes.get(NOMINAL);
  if (!nominal) return 'nothing to do: no schedule started this';
  const said = await fireSchedule(automationId, nominal.toISOString());
  showDetails(`**${nominal.toISOString()}**: ${said}`);
  return said;
}
