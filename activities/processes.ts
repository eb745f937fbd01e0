import { agentPlans } from './agent-plans.js';
import { agentTurns } from './agent-turns.js';
import { automationRuns } from './runs/automation-runs.js';
import { automationSchedules } from './automation-schedules.js';
import { bulkJobs } from './bulk.js';
import { changeRequests } from './change-requests.js';
import { cycles } from './cycles.js';
import { deprovisionings } from './deprovisioning.js';
import type { Process } from './process.js';
import { series } from './recurrence.js';
import { revocations } from './revocations.js';
import { runnerJobs } from './runner-jobs.js';
import { ciTriage, overnightTriage } from './triage.js';

/**
 * Everything that the worker dispatches to Temporal. Dispatchers, reconciler, activities, invariants and the table in docs/operate/runs.md follow from it.
 * Reconciled in this order.
 */
export const PROCESSES: readonly Process[] = [
  automationRuns,
  series,
  deprovisionings,
  revocations,
  automationSchedules,
  agentTurns,
  overnightTriage,
  ciTriage,
  agentPlans,
  changeRequests,
  cycles,
  bulkJobs,
  runnerJobs,
];
