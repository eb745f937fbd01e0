import { setTimeout as sleep } from 'node:timers/promises';
import { Client, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type SearchAttributeType } from '@temporalio/common';
import { type ActivityInterceptorsFactory, NativeConnection, Worker } from '@temporalio/worker';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/log.js';
import { CORRELATION_HEADER, taskQueue } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.js';
import { automationActivities } from './automations.js';
import { choreActivities } from './chores.js';
import { deprovisionActivities, DeprovisionDispatcher } from './deprovisioning.js';
import { recurrenceActivities, SeriesDispatcher } from './recurrence.js';
import { RunDispatcher } from './run-dispatcher.js';
import { ensureSchedules } from './schedules.js';

/** Wait before trying Temporal again, ms. */
const RETRY_MS = 2_000;
/** gRPC status of "it exists already". */
const ALREADY_EXISTS = 6;

/** Indexed value types by the names the SDK uses for them. */
const INDEXED: Record<SearchAttributeType, number> = {
  TEXT: 1,
  KEYWORD: 2,
  INT: 3,
  DOUBLE: 4,
  BOOL: 5,
  DATETIME: 6,
  KEYWORD_LIST: 7,
};

/** Puts the correlation id of the log scope into the headers of what is started or signalled. */
const correlated: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withCorrelation(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withCorrelation(input.headers) }),
};
function withCorrelation<H extends object>(headers: H): H {
  const id = logScope.getStore()?.['correlation_id'];
  return typeof id === 'string' ? { ...headers, [CORRELATION_HEADER]: defaultPayloadConverter.toPayload(id) } : headers;
}

/** Log lines of an activity carry the correlation id and the workflow they belong to. */
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

/**
 * Registers the search attributes, one by one and in order; an existing one is fine. Returns false when the server has no room
 * for them or does not allow it: runs then start without, and nothing functional is lost.
 */
async function ensureSearchAttributes(client: Client, connection: NativeConnection, services: Services): Promise<boolean> {
  const { namespace } = client.options;
  let all = true;
  for (const [name, { type }] of Object.entries(SEARCH_ATTRIBUTES)) {
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [name]: INDEXED[type] } });
    } catch (error) {
      if (isGrpcServiceError(error) && Number(error.code) === ALREADY_EXISTS) continue;
      if (error instanceof Error && /already exist/i.test(error.message)) continue;
      services.log.warn({ err: error, attribute: name }, 'search attribute not registered; runs start without them');
      all = false;
    }
  }
  return all;
}

export interface TemporalLink {
  /** Undefined while Temporal cannot be reached. */
  dispatcher: () => RunDispatcher | undefined;
  /** Hands over what is due for recurring series and for people's leaving. Returns how many rows were taken. */
  pass: (services: Services) => Promise<number>;
  client: () => Client | undefined;
  /** Drains the workers: what is under way may end, nothing new is taken. */
  stop: () => Promise<void>;
}

interface LinkOptions {
  /** Called when the workers of a new connection poll. */
  onPolling: () => void;
  localActivitySlots: number;
}

function createWorkers(services: Services, connection: NativeConnection, slots: number): Promise<Worker> {
  const { config } = services;
  return Worker.create({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: taskQueue(config.TASK_QUEUE_PREFIX, 'core'),
    workflowBundle: { codePath: config.WORKFLOW_BUNDLE },
    activities: {
      ...automationActivities(services),
      ...choreActivities(services),
      ...recurrenceActivities(services),
      ...deprovisionActivities(services),
    },
    interceptors: { activity: [scoped] },
    maxCachedWorkflows: 500,
    maxConcurrentWorkflowTaskExecutions: 40,
    // Never more slots than connections: an activity without one would only wait (Temporal notes, 2).
    maxConcurrentLocalActivityExecutions: slots,
    maxConcurrentActivityTaskExecutions: slots,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 10 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    stickyQueueScheduleToStartTimeout: '3s',
    shutdownGraceTime: '10s',
    shutdownForceTime: '20s',
  });
}

/**
 * Waits until the server itself names a poller of the queue: a worker that only believes to poll is not ready. A server that goes
 * away meanwhile is waited for, as the pollers do. False when the session was over before.
 */
async function waitForPollers(client: Client, queue: string, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    const asked = client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: 1,
    });
    const answer = await asked.catch(() => undefined);
    if (answer?.pollers && answer.pollers.length > 0) return true;
    await sleep(50);
  }
  return false;
}

/**
 * Keeps a worker connected to Temporal for as long as the process lives. Without Temporal nothing here fails: the relay does its
 * database work, starts and wakes wait in the outbox, and the link tries again.
 */
export function linkTemporal(services: Services, { onPolling, localActivitySlots }: LinkOptions): TemporalLink {
  const { config, log } = services;
  let stopped = false;
  let worker: Worker | undefined;
  let current: { client: Client; dispatcher: RunDispatcher; others: (SeriesDispatcher | DeprovisionDispatcher)[] } | undefined;

  const session = async (): Promise<void> => {
    const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS, grpcCompression: { codec: 'none' } });
    try {
      const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE, interceptors: { workflow: [correlated] } });
      const searchable = await ensureSearchAttributes(client, connection, services);
      worker = await createWorkers(services, connection, localActivitySlots);
      const running = worker.run();
      const queue = taskQueue(config.TASK_QUEUE_PREFIX, 'core');
      const options = { taskQueuePrefix: config.TASK_QUEUE_PREFIX, eager: true, searchable };
      current = {
        client,
        dispatcher: new RunDispatcher(client, options),
        others: [new SeriesDispatcher(client, options), new DeprovisionDispatcher(client, options)],
      };
      void ensureSchedules(client, config.TASK_QUEUE_PREFIX).catch((error: unknown) =>
        log.warn({ err: error }, 'schedules not set'),
      );
      void waitForPollers(client, queue, () => current?.client !== client).then((polling) => polling && onPolling());
      await running;
    } finally {
      current = undefined;
      worker = undefined;
      await connection.close().catch(() => undefined);
    }
  };
  const loop = (async () => {
    while (!stopped) {
      try {
        await session();
      } catch (error) {
        if (stopped) return;
        log.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal is away; trying again');
        await sleep(RETRY_MS);
      }
    }
  })();
  return {
    dispatcher: () => current?.dispatcher,
    async pass(given) {
      const taken = await Promise.all(current?.others.map((other) => other.pass(given)) ?? []);
      return taken.reduce((sum, count) => sum + count, 0);
    },
    client: () => current?.client,
    async stop() {
      stopped = true;
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await loop;
    },
  };
}
