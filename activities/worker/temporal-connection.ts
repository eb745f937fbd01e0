import { setTimeout as sleep } from 'node:timers/promises';
import { Client, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type SearchAttributeType } from '@temporalio/common';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Knex } from 'knex';
import { webAddress } from '../../api/core/config.js';
import type { Services } from '../../api/core/context.js';
import { logScope } from '../../api/core/telemetry/log.js';
import { CORRELATION_HEADER, taskQueue } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.js';
import type { AnyDispatcher } from '../../api/outbox/dispatch-outbox.js';
import { PlanDispatcher } from '../agent-plans.js';
import { TurnDispatcher } from '../agent-turns.js';
import { ScheduleSync } from '../automation-schedules.js';
import { BulkDispatcher } from '../bulk.js';
import { CycleDispatcher } from '../cycles.js';
import { DeprovisionDispatcher } from '../deprovisioning.js';
import { SeriesDispatcher } from '../recurrence.js';
import type { PassKind } from './reconcile-loop.js';
import { reconcileRuns, restartUnclaimed } from './reconciler.js';
import { RevocationDispatcher } from '../revocations.js';
import { RunnerJobDispatcher } from '../runner-jobs.js';
import { CiTriageDispatcher, TriageSync } from '../triage.js';
import { RunDispatcher } from './run-dispatcher.js';
import { ensureSchedules } from '../schedules.js';
import { connectionOptions } from './connect-temporal.js';
import { watchStore } from './watch-store.js';
import { createWorkers, runAll, shutdown } from './workers.js';

/** Dispatchers of other kinds than runs; each also reconciles its rows. */
const DISPATCHERS = [
  SeriesDispatcher,
  DeprovisionDispatcher,
  RevocationDispatcher,
  ScheduleSync,
  TurnDispatcher,
  TriageSync,
  CiTriageDispatcher,
  PlanDispatcher,
  CycleDispatcher,
  BulkDispatcher,
  RunnerJobDispatcher,
];
interface ReconcilingDispatcher extends AnyDispatcher {
  reconcile: (services: Services, isFirst: boolean) => Promise<number>;
}

/** Everything that uses one connection. */
interface Dispatchers {
  client: Client;
  dispatcher: RunDispatcher;
  others: ReconcilingDispatcher[];
}

function createDispatchers(services: Services, client: Client, searchable: boolean): Dispatchers {
  const { config } = services;
  const { TASK_QUEUE_PREFIX: taskQueuePrefix, OUTBOX_GIVE_UP_HOURS: giveUpHours } = config;
  const options = { taskQueuePrefix, eager: true, searchable, giveUpHours };
  const pageOf = (runId: string): string => webAddress(config, `/app/runs/${runId}`);
  const dispatcher = new RunDispatcher(services, client, { ...options, pageOf });
  return {
    client,
    dispatcher,
    others: DISPATCHERS.map((Dispatcher) => new Dispatcher(client, options) as unknown as ReconcilingDispatcher),
  };
}

/**
 * Reconciles each kind in turn; a failure does not stop the others. Returns the number restarted.
 * @throws AggregateError with all failures
 */
async function reconcileWith({ client, others }: Dispatchers, services: Services, kind: PassKind): Promise<number> {
  const { TASK_QUEUE_PREFIX: taskQueuePrefix } = services.config;
  const isFirst = kind === 'first';
  let restarted = 0;
  const errors: unknown[] = [];
  const attempt = async (work: Promise<number>): Promise<void> => {
    const count = await work.catch((error: unknown) => {
      errors.push(error);
      return 0;
    });
    restarted += count;
  };
  const options = { taskQueuePrefix, isFirst };
  await attempt(kind === 'brief' ? restartUnclaimed(services, client, options) : reconcileRuns(services, client, options));
  for (const other of others) await attempt(other.reconcile(services, isFirst));
  if (kind !== 'brief' && services.config.MAINTENANCE_SCHEDULES === 'create')
    await attempt(ensureSchedules(client, taskQueuePrefix).then(() => 0));
  if (errors.length > 0) throw new AggregateError(errors, 'reconciliation with Temporal is incomplete');
  return restarted;
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
  const id = logScope.getStore()?.['correlation_id'];
  return typeof id === 'string' ? { ...headers, [CORRELATION_HEADER]: defaultPayloadConverter.toPayload(id) } : headers;
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

export interface TemporalLink {
  /** Undefined while Temporal is unreachable. */
  dispatcher: () => RunDispatcher | undefined;
  /**
   * Reconciles the rows with Temporal and restarts what was lost. Returns the number of runs, series, jobs, revocations and
   * schedules.
   */
  reconcile: (services: Services, kind: PassKind) => Promise<number>;
  /** Dispatchers of other kinds; none while Temporal is unreachable. */
  others: () => readonly AnyDispatcher[];
  client: () => Client | undefined;
  /** Drains the workers: running tasks may finish, no new ones start. */
  stop: () => Promise<void>;
}

interface LinkOptions {
  /** Called when the workers of a new connection poll. */
  onPolling: () => void;
  localActivitySlots: number;
  /** The pool of exports (activities/bulk.ts); by default that of the services. */
  exportDb?: Knex;
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
  { onPolling, localActivitySlots, exportDb = services.db }: LinkOptions,
): TemporalLink {
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
      workers = await createWorkers(services, connection, { slots: localActivitySlots, exportDb });
      const running = runAll(workers);
      const queue = taskQueue(config.TASK_QUEUE_PREFIX, 'core');
      current = createDispatchers(services, client, searchable);
      const isOver = (): boolean => current?.client !== client;
      const announce = (): void => void waitForPollers(client, queue, isOver).then((polling) => polling && onPolling());
      announce();
      stopWatching = watchStore(client, () => {
        log.warn('Temporal reconnected, possibly with another store; reconciling');
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
        log.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal unavailable, retrying');
        await sleep(RETRY_MS);
      }
    }
  })();
  return {
    dispatcher: () => current?.dispatcher,
    others: () => current?.others ?? [],
    reconcile: async (passed, kind) => (current ? reconcileWith(current, passed, kind) : 0),
    client: () => current?.client,
    async stop() {
      stopped = true;
      shutdown(workers);
      await loop;
    },
  };
}
