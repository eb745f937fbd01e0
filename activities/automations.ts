import { activityInfo, heartbeat } from '@temporalio/activity';
import { actionTypes, outboundTypes } from '../api/actions/registry.js';
import type { RunExecution } from '../api/runs/execution/claim-run.js';
import { finishRun } from '../api/runs/execution/finish-run.js';
import { openGate } from '../api/runs/approvals/open-gate.js';
import { performAction } from '../api/runs/execution/perform-action.js';
import { performOutbound } from '../api/runs/execution/perform-outbound.js';
import { DELAY } from '../api/actions/rules.js';
import { readGate } from '../api/runs/approvals/read-gate.js';
import { runDelay } from '../api/runs/execution/run-delay.js';
import type { Services } from '../api/core/context.js';
import { type ActionActivity, OUTBOUND_HEARTBEAT, type RunActivities, type RunRef } from '../workflows/contract.js';

/** Returns the id of this activity's execution, as stored in the run's row. */
const executionId = (): string => activityInfo().workflowExecution?.runId ?? 'none';
const runExecutionOf = (run: RunRef): RunExecution => ({ ...run, execution: executionId() });

/** Activities of automation runs: each calls one operation. They run at least once, so the operations may be repeated. */
export function automationActivities(services: Services): RunActivities & Record<string, unknown> {
  const perform: ActionActivity = (run, index) => performAction(services, runExecutionOf(run), index);
  const run: RunActivities & { [DELAY]: ActionActivity } = {
    openGate: (run, index) => openGate(services, runExecutionOf(run), index),
    readGate: (runId, index) => readGate(services, runId, index, executionId()),
    [DELAY]: (run, index) => runDelay(services, runExecutionOf(run), index),
    finishRun: (run, cancelled) => finishRun(services, runExecutionOf(run), cancelled),
  };
  // Each action type is an activity of that name, so that a history reads like the automation.
  return { ...Object.fromEntries(Object.keys(actionTypes).map((type) => [type, perform])), ...run };
}

/** Activities of the queue `outbound`: actions that call other servers. The history contains their outcome, never a response. */
export function outboundActivities(services: Services): Record<string, ActionActivity> {
  const perform: ActionActivity = async (run, index) => {
    const beat = setInterval(heartbeat, OUTBOUND_HEARTBEAT.everyMs);
    try {
      return await performOutbound(services, runExecutionOf(run), index);
    } finally {
      clearInterval(beat);
    }
  };
  return Object.fromEntries(Object.keys(outboundTypes()).map((type) => [type, perform]));
}
