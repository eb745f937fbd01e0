import { defaultPayloadConverter } from '@temporalio/common';
import { type ActivityInterceptorsFactory, type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Knex } from 'knex';
import type { Services } from '../../api/core/context.js';
import { logScope } from '../../api/core/telemetry/log.js';
import { CORRELATION_HEADER, taskQueue } from '../../workflows/contract.js';
import { scheduleActivities } from '../automation-schedules.js';
import { turnActivities } from '../agent-turns.js';
import { planActivities } from '../agent-plans.js';
import { automationActivities, outboundActivities } from '../automations.js';
import { bulkActivities, exportActivities } from '../bulk.js';
import { importActivities, importEndings } from '../imports.js';
import { cycleActivities } from '../cycles.js';
import { maintenanceActivities } from '../maintenance.js';
import { deprovisionActivities } from '../deprovisioning.js';
import { modelStepActivities, modelTurnActivities } from '../model-turns.js';
import { recurrenceActivities } from '../recurrence.js';
import { runnerJobActivities } from '../runner-jobs.js';
import { triageActivities } from '../triage.js';
import { revocationActivities } from '../revocations.js';

/** Adds the correlation id and the workflow to an activity's log lines. */
const scoped: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute(input, next) {
      const header = input.headers[CORRELATION_HEADER];
      const correlation_id = header ? defaultPayloadConverter.fromPayload<string>(header) : undefined;
      const { workflowExecution, activityType } = context.info;
      return logScope.run({ correlation_id, workflow_id: workflowExecution?.workflowId, activity: activityType }, () =>
        next(input),
      );
    },
  },
});

/** Maximum concurrent outbound actions; they use a database connection only before and after the request. */
const OUTBOUND_SLOTS = 50;

/** Imports and undos that a process writes at once. Each uses one connection of the worker. */
const IMPORT_SLOTS = 2;

/**
 * Creates one worker per queue: outbound actions have their own, so that slow servers delay neither approvals nor local actions, and so have
 * imports, of which fifty teams that start one would hold all outbound slots.
 */
export function createWorkers(
  services: Services,
  connection: NativeConnection,
  { slots, exportDb }: { slots: number; exportDb: Knex },
): Promise<Worker[]> {
  const { config } = services;
  const common = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: { activity: [scoped] },
    activityTaskPollerBehavior: { type: 'simple-maximum' as const, maximum: 2 },
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  } satisfies Partial<WorkerOptions>;
  const core = Worker.create({
    ...common,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'core'),
    workflowBundle: { codePath: config.WORKFLOW_BUNDLE },
    activities: {
      ...automationActivities(services),
      ...maintenanceActivities(services),
      ...recurrenceActivities(services),
      ...planActivities(services),
      ...cycleActivities(services),
      ...bulkActivities(services),
      ...runnerJobActivities(services),
      ...importEndings(services),
      ...scheduleActivities(services),
      ...deprovisionActivities(services),
      ...triageActivities(services),
      ...modelTurnActivities(services),
      ...turnActivities(services),
    },
    maxCachedWorkflows: 500,
    maxConcurrentWorkflowTaskExecutions: 40,
    // As many slots as connections: an activity without one would only wait.
    maxConcurrentLocalActivityExecutions: slots,
    maxConcurrentActivityTaskExecutions: slots,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 10 },
    stickyQueueScheduleToStartTimeout: '3s',
  });
  const outbound = Worker.create({
    ...common,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'outbound'),
    activities: {
      ...outboundActivities(services, OUTBOUND_SLOTS),
      ...revocationActivities(services),
      ...modelStepActivities(services),
      ...exportActivities(services, exportDb),
    },
    maxConcurrentActivityTaskExecutions: OUTBOUND_SLOTS,
  });
  const imports = Worker.create({
    ...common,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'imports'),
    activities: importActivities(services),
    maxConcurrentActivityTaskExecutions: IMPORT_SLOTS,
  });
  return Promise.all([core, outbound, imports]);
}

/**
 * Runs the workers until shutdown; if one fails, the others end too.
 * @throws the failure
 */
export async function runAll(workers: readonly Worker[]): Promise<void> {
  const running = workers.map((worker) => worker.run());
  try {
    await Promise.all(running);
  } finally {
    shutdown(workers);
    await Promise.allSettled(running);
  }
}

export function shutdown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
