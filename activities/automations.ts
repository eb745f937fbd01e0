import { activityInfo } from '@temporalio/activity';
import { actionTypes } from '../api/automations/actions/registry.js';
import { claimRun } from '../api/automations/run/claim-run.js';
import { finishRun } from '../api/automations/run/finish-run.js';
import { openGate } from '../api/automations/run/open-gate.js';
import { performAction } from '../api/automations/run/perform-action.js';
import { readGate } from '../api/automations/run/read-gate.js';
import type { Services } from '../api/core/context.js';
import type { ActionActivity, RunActivities } from '../workflows/contract.js';

/** Activities of automation runs: each calls one verb. At least once by design, so the verbs may be repeated. */
export function automationActivities(services: Services): RunActivities & Record<string, unknown> {
  const perform: ActionActivity = (runId, index) => performAction(services, runId, index);
  const run: RunActivities = {
    claimRun: (input) => claimRun(services, input, activityInfo().workflowExecution?.runId ?? 'none'),
    openGate: (runId, index) => openGate(services, runId, index),
    readGate: (runId, index) => readGate(services, runId, index),
    finishRun: (runId, cancelled) => finishRun(services, runId, cancelled),
  };
  // Each action is an activity of its own name, so that a history reads like the automation.
  return { ...Object.fromEntries(Object.keys(actionTypes).map((type) => [type, perform])), ...run };
}
