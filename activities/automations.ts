import { activityInfo } from '@temporalio/activity';
import { actionTypes } from '../api/automations/actions/registry.js';
import type { Carrier } from '../api/automations/run/claim-run.js';
import { finishRun } from '../api/automations/run/finish-run.js';
import { openGate } from '../api/automations/run/open-gate.js';
import { performAction } from '../api/automations/run/perform-action.js';
import { readGate } from '../api/automations/run/read-gate.js';
import type { Services } from '../api/core/context.js';
import type { ActionActivity, RunActivities, RunRef } from '../workflows/contract.js';

/** The execution that this activity belongs to, as the run's row knows it. */
const carrierOf = (run: RunRef): Carrier => ({ ...run, execution: activityInfo().workflowExecution?.runId ?? 'none' });

/** Activities of automation runs: each calls one verb. At least once by design, so the verbs may be repeated. */
export function automationActivities(services: Services): RunActivities & Record<string, unknown> {
  const perform: ActionActivity = (run, index) => performAction(services, carrierOf(run), index);
  const run: RunActivities = {
    openGate: (run, index) => openGate(services, carrierOf(run), index),
    readGate: (runId, index) => readGate(services, runId, index),
    finishRun: (run, cancelled) => finishRun(services, carrierOf(run), cancelled),
  };
  // Each action is an activity of its own name, so that a history reads like the automation.
  return { ...Object.fromEntries(Object.keys(actionTypes).map((type) => [type, perform])), ...run };
}
