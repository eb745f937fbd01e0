import { setTimeout as sleep } from 'node:timers/promises';
import { Client, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type SearchAttributeType } from '@temporalio/common';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Knex } from 'knex';
import type { Config } from '../../api/platform/config.js';
import type { Services } from '../../api/platform/context.js';
import { scopeCorrelation } from '../../api/platform/telemetry/log.js';
import { CORRELATION_HEADER, taskQueue } from '../../workflows/contracts/queues.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import type { AnyDispatcher } from '../../api/platform/outbox/dispatch-outbox.js';
import type { Process, ReconcilingDispatcher } from '../process.js';
import { PROCESSES } from '../processes.js';
import type { PassKind } from './reconcile-loop.js';
import { reconcileAll } from './reconciler.js';
import { connectionOptions } from './connect-temporal.js';
import { trackReachability, watchStore } from './watch-store.js';
import { createWorkers, runAll, shutdown } from './workers.js';

/** Everything that uses one connection. */
interface Connected {
  client: Client;
  dispatchers: readonly ReconcilingDispatcher[];
}

function connect({ config }: Services, client: Client, searchable: boolean, processes: readonly Process[]): Connected {
  const options = {
    taskQueuePrefix: config.TASK_QUEUE_PREFIX,
    eager: true,
    searchable,
    giveUpHours: config.OUTBOX_GIVE_UP_HOURS,
  };
  return { client, dispatchers: processes.map((process) => process.connect(client, options)) };
}

/** Delay in ms before reconnecting to Temporal. */
const RETRY_MS = 2_000;
/** gRPC status ALREADY_EXISTS. */
const ALREADY_EXISTS = 6;

/** Indexed value types by their names in the SDK. */
const INDEXED: Record<SearchAttributeType, number> = {
  TEXT: 1,
  KEYWORD: 2,
  INT: 3,
  DOUBLE: 4,
  BOOL: 5,
  DATETIME: 6,
  KEYWORD_LIST: 7,
};

/** Adds the correlation id of the log scope to the headers of starts and signals. */
const correlated: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withCorrelation(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withCorrelation(input.headers) }),
};
function withCorrelation<H extends object>(headers: H): H {
  const id = scopeCorrelation();
  return id !== undefined ? { ...headers, [CORRELATION_HEADER]: defaultPayloadConverter.toPayload(id) } : headers;
}

/**
 * Registers the search attributes one by one, in order; existing ones are fine. Returns false if the server has no slots or
 * denies it: runs then start without them and lose no function.
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

const createClient = (connection: NativeConnection, { TEMPORAL_NAMESPACE: namespace }: Config): Client =>
  new Client({ connection, namespace, interceptors: { workflow: [correlated] } });

export interface TemporalLink {
  /**
   * Reconciles the rows with Temporal and restarts what was lost. Returns the number of runs, series, jobs, revocations and
   * schedules.
   */
  reconcile: (services: Services, pass: PassKind) => Promise<number>;
  /** None while Temporal is unreachable. */
  dispatchers: () => readonly AnyDispatcher[];
  /** True while Temporal answers: it did within the last five seconds; every connection asks every second. */
  isReachable: () => boolean;
  client: () => Client | undefined;
  /** Drains the workers: running tasks may finish, no new ones start. */
  stop: () => Promise<void>;
}

interface LinkOptions {
  /** Called when the workers of a new connection poll, and again after each outage. */
  onPolling: () => void;
  /** Called when Temporal answers no more, and when it does again: what waits in the outbox can be dispatched at once. */
  onReachable?: (isReachable: boolean) => void;
  localActivitySlots: number;
  /** The pool of exports (activities/bulk.ts); by default that of the services. */
  exportDb?: Knex;
  processes?: readonly Process[];
}

/**
 * Waits until the server lists a poller of the queue; a worker's own state does not prove it. Waits through an outage, as the
 * pollers do. Returns false if the session ended before.
 */
async function waitForPollers(client: Client, queue: string, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    const request = client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: 1,
    });
    const answer = await request.catch(() => undefined);
    if (answer?.pollers && answer.pollers.length > 0) return true;
    await sleep(50);
  }
  return false;
}

/**
 * Keeps a worker connected to Temporal for the life of the process. Without Temporal nothing here fails: the relay continues its
 * database work, starts and wakes wait in the outbox, and the connection is retried.
 */
export function startTemporalConnection(
  services: Services,
  { onPolling, onReachable = () => undefined, localActivitySlots, exportDb = services.db, processes = PROCESSES }: LinkOptions,
): TemporalLink {
  const { config, log } = services;
  const coreQueue = taskQueue(config.TASK_QUEUE_PREFIX, 'core');
  let stopped = false;
  let current: Connected | undefined;
  let workers: readonly Worker[] = [];
  const reachability = trackReachability(onReachable);

  const session = async (): Promise<void> => {
    const connection = await NativeConnection.connect(connectionOptions(config));
    const client = createClient(connection, config);
    let stopWatching = (): void => undefined;
    try {
      const searchable = await ensureSearchAttributes(client, connection, services);
      workers = await createWorkers(services, connection, { slots: localActivitySlots, exportDb, processes });
      current = connect(services, client, searchable, processes);
      const running = runAll(workers);
      const announce = (): void =>
        void waitForPollers(client, coreQueue, () => current?.client !== client).then((polling) => polling && onPolling());
      reachability.set(true);
      announce();
      stopWatching = watchStore(client, log, reachability, () => {
        void ensureSearchAttributes(client, connection, services).then(announce);
      });
      await running;
    } finally {
      stopWatching();
      reachability.set(false);
      [current, workers] = [undefined, []];
      await connection.close().catch(() => undefined);
    }
  };
  const loop = (async () => {
    while (!stopped) {
      try {
        await session();
      } catch (error) {
        if (stopped) return;
        log.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal unavailable, retrying');
        await sleep(RETRY_MS);
      }
    }
  })();
  return {
    dispatchers: () => (reachability.get() && current ? current.dispatchers : []),
    isReachable: reachability.get,
    client: () => current?.client,
    reconcile: async (passed, pass) => (current ? reconcileAll(current.client, current.dispatchers, passed, pass) : 0),
    async stop() {
      stopped = true;
      shutdown(workers);
      await loop;
    },
  };
}
