import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { actionTypes, outboundTypes } from '../api/automation/actions/registry.js';
import type { RunExecution } from '../api/automation/runs/execution/claim-run.js';
import { finishRun } from '../api/automation/runs/execution/finish-run.js';
import { openGate } from '../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../api/automation/runs/execution/perform-action.js';
import { performOutbound } from '../api/automation/runs/execution/perform-outbound.js';
import { DELAY } from '../api/automation/actions/rules.js';
import { readGate } from '../api/automation/runs/approvals/read-gate.js';
import { runDelay } from '../api/automation/runs/execution/run-delay.js';
import type { Services } from '../api/platform/context.js';
import { OUTBOUND_HEARTBEAT } from '../workflows/contracts/queues.js';
import type { ActionActivity, RunActivities, RunRef } from '../workflows/contracts/run-contract.js';
import { TeamSlots } from './team-slots.js';

/** Returns the id of this activity's execution, as stored in the run's row. */
const executionId = (): string => activityInfo().workflowExecution?.runId ?? 'none';
const getRunExecution = (run: RunRef): RunExecution => ({ ...run, execution: executionId() });

/** Activities of automation runs: each calls one operation. They run at least once, so the operations may be repeated. */
export function automationActivities(services: Services): RunActivities & Record<string, unknown> {
  const perform: ActionActivity = (run, index) => performAction(services, getRunExecution(run), index);
  const run: RunActivities & { [DELAY]: ActionActivity } = {
    openGate: (run, index) => openGate(services, getRunExecution(run), index),
    readGate: (runId, index) => readGate(services, runId, index, executionId()),
    [DELAY]: (run, index) => runDelay(services, getRunExecution(run), index),
    finishRun: (run, cancelled) => finishRun(services, getRunExecution(run), cancelled),
  };
  // Each action type is an activity of that name, so that a history reads like the automation.
  return { ...Object.fromEntries(Object.keys(actionTypes).map((type) => [type, perform])), ...run };
}

/** Longest delay after which an action asks again for a slot, ms. Many that wait must not keep the worker busy with refusals. */
const MAX_BUSY_RETRY_MS = 60_000;

/** Says that an action asks again later. Nothing of it has begun, so this is no attempt of the action. */
function busy(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'TeamSlotsTaken',
    message: 'The team has as many requests under way as are left for others',
    nextRetryDelay: Math.min(1_000 * 2 ** (attempt - 1), MAX_BUSY_RETRY_MS),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/**
 * Activities of the queue `outbound`: actions that call other servers. The history contains their outcome, never a response. `slots`: those of
 * the worker.
 */
export function outboundActivities(services: Services, slots: number): Record<string, ActionActivity> {
  const shared = new TeamSlots(slots);
  const perform: ActionActivity = async (run, index) => {
    const { priority, attempt } = activityInfo();
    // The run's team, or the creator of a personal automation (runs/automation-runs.ts).
    const team = priority?.fairnessKey ?? '';
    if (!shared.take(team)) throw busy(attempt);
    const beat = setInterval(heartbeat, OUTBOUND_HEARTBEAT.everyMs);
    try {
      return await performOutbound(services, getRunExecution(run), index);
    } finally {
      clearInterval(beat);
      shared.release(team);
    }
  };
  return Object.fromEntries(Object.keys(outboundTypes()).map((type) => [type, perform]));
}
