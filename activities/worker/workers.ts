import { OutboundTurns } from '../team-slots.js';
import { defaultPayloadConverter } from '@temporalio/common';
import { type ActivityInterceptorsFactory, type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Knex } from 'knex';
import type { Services } from '../../api/platform/context.js';
import { newId } from '../../api/platform/ids.js';
import { logScope } from '../../api/platform/telemetry/log.js';
import { CORRELATION_HEADER, taskQueue } from '../../workflows/contracts/queues.js';
import { maintenanceActivities } from '../maintenance.js';
import type { Process } from '../process.js';
import { traceActivities } from './trace-work.js';

/** Adds the correlation id and the workflow to an activity's log lines. Work that only the clock causes gets an id of its own. */
const scoped: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute(input, next) {
      const header = input.headers[CORRELATION_HEADER];
      const correlation_id = header ? defaultPayloadConverter.fromPayload<string>(header) : newId();
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
  { slots, exportDb, processes }: { slots: number; exportDb: Knex; processes: readonly Process[] },
): Promise<Worker[]> {
  const { config, tracer } = services;
  const common = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: { activity: tracer ? [scoped, traceActivities(tracer)] : [scoped] },
    activityTaskPollerBehavior: { type: 'simple-maximum' as const, maximum: 2 },
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  } satisfies Partial<WorkerOptions>;
  const resources = { exportDb, outboundTurns: new OutboundTurns(OUTBOUND_SLOTS) };
  const collectActivities = (queue: keyof Process['activities']): object =>
    Object.assign({}, ...processes.map(({ activities }) => activities[queue]?.(services, resources)));
  const core = Worker.create({
    ...common,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'core'),
    workflowBundle: { codePath: config.WORKFLOW_BUNDLE },
    activities: { ...collectActivities('core'), ...maintenanceActivities(services) },
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
    activities: collectActivities('outbound'),
    maxConcurrentActivityTaskExecutions: OUTBOUND_SLOTS,
  });
  const imports = Worker.create({
    ...common,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'imports'),
    activities: collectActivities('imports'),
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
