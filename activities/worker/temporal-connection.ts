import { setTimeout as sleep } from 'node:timers/promises';
import { Client, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type SearchAttributeType } from '@temporalio/common';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { webAddress } from '../../api/core/config.js';
import type { Services } from '../../api/core/context.js';
import { logScope } from '../../api/core/telemetry/log.js';
import { CORRELATION_HEADER, taskQueue } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import type { AnyDispatcher } from '../../api/outbox/dispatch-outbox.js';
import { ScheduleSync } from '../automation-schedules.js';
import { DeprovisionDispatcher } from '../deprovisioning.js';
import { SeriesDispatcher } from '../recurrence.js';
import { reconcileRuns } from './reconciler.js';
import { RevocationDispatcher } from '../revocations.js';
import { RunDispatcher } from './run-dispatcher.js';
import { ensureSchedules } from '../schedules.js';
import { connectionOptions } from './connect-temporal.js';
import { watchStore } from './watch-store.js';
import { createWorkers, runAll, shutdown } from './workers.js';

/** What hands the rows of other kinds than runs to Temporal, and restarts what was lost there. */
const DISPATCHERS = [SeriesDispatcher, DeprovisionDispatcher, RevocationDispatcher, ScheduleSync];
interface ReconcilingDispatcher extends AnyDispatcher {
  reconcile: (services: Services, isFirst: boolean) => Promise<number>;
}

/** What works over one connection. */
interface Dispatchers {
  client: Client;
  dispatcher: RunDispatcher;
  others: ReconcilingDispatcher[];
}

function createDispatchers(services: Services, client: Client, searchable: boolean): Dispatchers {
  const { config } = services;
  const options = { taskQueuePrefix: config.TASK_QUEUE_PREFIX, eager: true, searchable };
  const pageOf = (runId: string): string => webAddress(config, `/app/runs/${runId}`);
  const dispatcher = new RunDispatcher(services, client, { ...options, pageOf });
  return {
    client,
    dispatcher,
    others: DISPATCHERS.map((Dispatcher) => new Dispatcher(client, options) as unknown as ReconcilingDispatcher),
  };
}

/**
 * Compares the rows with Temporal, one kind after the other; one that fails keeps no other from its turn. Returns how many were restarted.
 * @throws AggregateError what failed
 */
async function reconcileWith({ client, others }: Dispatchers, services: Services, isFirst: boolean): Promise<number> {
  const { TASK_QUEUE_PREFIX: taskQueuePrefix } = services.config;
  let restarted = 0;
  const errors: unknown[] = [];
  const attempt = async (work: Promise<number>): Promise<void> => {
    const count = await work.catch((error: unknown) => {
      errors.push(error);
      return 0;
    });
    restarted += count;
  };
  await attempt(reconcileRuns(services, client, { taskQueuePrefix, isFirst }));
  for (const other of others) await attempt(other.reconcile(services, isFirst));
  if (isFirst) await attempt(ensureSchedules(client, taskQueuePrefix).then(() => 0));
  if (errors.length > 0) throw new AggregateError(errors, 'not everything was compared with Temporal');
  return restarted;
}

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
  /**
   * Compares the rows with Temporal, and restarts what was lost there. Returns how many runs, series, jobs, revocations and schedules.
   * `isFirst`: after a connection was made.
   */
  reconcile: (services: Services, isFirst: boolean) => Promise<number>;
  /** What hands the rows of other kinds to Temporal; none while it cannot be reached. */
  others: () => readonly AnyDispatcher[];
  client: () => Client | undefined;
  /** Drains the workers: what is under way may end, nothing new is taken. */
  stop: () => Promise<void>;
}

interface LinkOptions {
  /** Called when the workers of a new connection poll. */
  onPolling: () => void;
  localActivitySlots: number;
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
export function startTemporalConnection(services: Services, { onPolling, localActivitySlots }: LinkOptions): TemporalLink {
  const { config, log } = services;
  let stopped = false;
  let workers: readonly Worker[] = [];
  let current: Dispatchers | undefined;

  const session = async (): Promise<void> => {
    const connection = await NativeConnection.connect(connectionOptions(config));
    let stopWatching = (): void => undefined;
    try {
      const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE, interceptors: { workflow: [correlated] } });
      const searchable = await ensureSearchAttributes(client, connection, services);
      workers = await createWorkers(services, connection, localActivitySlots);
      const running = runAll(workers);
      const queue = taskQueue(config.TASK_QUEUE_PREFIX, 'core');
      current = createDispatchers(services, client, searchable);
      const isOver = (): boolean => current?.client !== client;
      const announce = (): void => void waitForPollers(client, queue, isOver).then((polling) => polling && onPolling());
      announce();
      stopWatching = watchStore(client, () => {
        log.warn('Temporal is back, perhaps with another store: comparing it with the rows');
        void ensureSearchAttributes(client, connection, services).then(announce);
      });
      await running;
    } finally {
      stopWatching();
      current = undefined;
      workers = [];
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
    others: () => current?.others ?? [],
    reconcile: async (given, isFirst) => (current ? reconcileWith(current, given, isFirst) : 0),
    client: () => current?.client,
    async stop() {
      stopped = true;
      shutdown(workers);
      await loop;
    },
  };
}
