import { activityInfo } from '@temporalio/activity';
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
import type { ActionActivity, RunActivities, RunRef } from '../workflows/contracts/run-contract.js';
import type { OutboundTurns } from './team-slots.js';

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

/**
 * Activities of the queue `outbound`: actions that call other servers. The history contains their outcome, never a response.
 */
export function outboundActivities(services: Services, turns: OutboundTurns): Record<string, ActionActivity> {
  const perform: ActionActivity = (run, index) => turns.take(() => performOutbound(services, getRunExecution(run), index));
  return Object.fromEntries(Object.keys(outboundTypes()).map((type) => [type, perform]));
}
