import {
  type Client,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import type { Services } from '../api/platform/context.js';
import type { Dispatcher } from '../api/platform/outbox/dispatch-outbox.js';
import type { OutboxKind } from '../api/platform/outbox/outbox.js';
import { logScope } from '../api/platform/telemetry/log.js';
import type { Statement } from '../db/statement.js';
import { taskQueue } from '../workflows/contracts/queues.js';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.js';
import type { DispatchOptions, Process, ProcessNote, ReconcilingDispatcher, WorkflowInvariant } from './process.js';
import { reconcileRows, type RestorableRows, type RowLink, type Signal } from './worker/reconcile-rows.js';
import { buildRestore, type RestorableTable } from './worker/restorable-table.js';
import { traceDispatch } from './worker/trace-work.js';

/** A leased outbox row with the columns of its subject. */
interface OutboxRow {
  outbox_id: number;
  correlation_id: string;
}

/** Values by the name of the search attribute; null and undefined set none. */
export type Attributes = Partial<Record<keyof typeof SEARCH_ATTRIBUTES, string | number | boolean | Date | null | undefined>>;

/** What an outbox row asks of Temporal: a start, a signal to the open execution, or a start with a signal. */
type Delivery = { start: boolean } & Partial<Signal>;

/** A workflow that follows a row of PostgreSQL: the row decides, so every start and every signal may be repeated. */
interface RowWorkflow<Row extends OutboxRow, Open extends object>
  extends RestorableRows<Row, Open>,
    Partial<Pick<Process, 'activities'>> {
  /** The values of its search attribute `Process`; the first one, unless `attributes` names another. */
  notes: readonly [ProcessNote, ...ProcessNote[]];
  invariants: readonly WorkflowInvariant[];
  kinds: readonly [OutboxKind, ...OutboxKind[]];
  /** Makes `key`, `open` and `restart`, where a row of the table is started by its key alone, with the first kind. */
  table?: RestorableTable<Open>;
  /** $1 = leased outbox rows. A row that it omits has lost its subject and is dropped. */
  dispatches: Statement;
  /** Ends the row whose start was refused permanently, or for longer than OUTBOX_GIVE_UP_HOURS. */
  abandon?: { kind: OutboxKind; run: (row: Row, services: Services) => Promise<void> };
  /** Returns the workflow's only argument. An object also learns that the cluster has no search attributes. */
  input: (row: Row, config: Services['config']) => object | string;
  /** The process and the correlation id are added. */
  attributes: (row: Row) => Attributes;
  summary: (row: Row) => string;
  /** Returns the lines of a list, to which the correlation id is added, or the whole text. */
  details?: (row: Row, config: Services['config']) => readonly string[] | string;
  /** Returns the owner among whom Temporal shares the task queue; inherited by the activities. */
  fairnessKey?: (row: Row) => string;
  /** By default a closed workflow starts again, because only the row says that it has ended, and a start finds the open one. */
  startOptions?: (row: Row, options: DispatchOptions) => Partial<WorkflowStartOptions>;
  /** By default each row starts the workflow. */
  deliver?: (row: Row) => Delivery;
  /** Replaces `deliver`. */
  dispatch?: (row: Row, link: RowLink<Row>, services: Services) => Promise<void>;
  /** Replaces the comparison with the open workflows in brief passes of the reconciler. */
  reconcileBriefly?: (services: Services, client: Client, options: DispatchOptions) => Promise<number>;
}

/** Declares a workflow that follows a row, for the worker, the reconciler, the invariants and the operator's table (activities/processes.ts). */
export function defineRowWorkflow<Row extends OutboxRow, Open extends object>(given: RowWorkflow<Row, Open>): Process {
  const { notes, invariants, activities = {}, table, kinds } = given;
  const declared = { ...given, ...(table && buildRestore(table, kinds[0])) };
  return {
    notes,
    invariants,
    activities,
    // The relay returns to a dispatcher what `dispatches` has read, so it need not know the type of the rows.
    connect: (client, options) => createDispatcher(declared, client, options) as unknown as ReconcilingDispatcher,
  };
}

function createDispatcher<Row extends OutboxRow, Open extends object>(
  declared: RowWorkflow<Row, Open>,
  client: Client,
  options: DispatchOptions,
): Dispatcher<Row> & Pick<ReconcilingDispatcher, 'reconcile'> {
  const link = createLink(declared, client, options);
  const { kinds, dispatches, abandon, reconcileBriefly } = declared;
  const perform = declared.dispatch ?? ((row, _link, services) => deliver(declared, link, row, services));
  const dispatch = (row: Row, services: Services): Promise<void> => {
    const { tracer } = services;
    if (!tracer) return perform(row, link, services);
    const about = { workflowId: declared.getId(row), process: declared.notes[0].process };
    return traceDispatch(tracer, row, about, () => perform(row, link, services));
  };
  return {
    kinds,
    details: dispatches,
    ...(abandon && { abandon: { ...abandon, afterHours: options.giveUpHours } }),
    dispatch: (row, services) => logScope.run({ correlation_id: row.correlation_id }, () => dispatch(row, services)),
    reconcile: (services, pass = 'full') =>
      pass === 'brief' && reconcileBriefly
        ? reconcileBriefly(services, client, options)
        : reconcileRows(declared, { link, services, queue: buildQueueName(options), isFirst: pass === 'first' }),
  };
}

const buildQueueName = ({ taskQueuePrefix }: DispatchOptions): string => taskQueue(taskQueuePrefix, 'core');

async function deliver<Row extends OutboxRow, Open extends object>(
  { deliver: toDelivery = () => ({ start: true }), getId }: RowWorkflow<Row, Open>,
  link: RowLink<Row>,
  row: Row,
  services: Services,
): Promise<void> {
  const { start, signal, args = [] } = toDelivery(row) as Delivery;
  if (start) await link.start(row, services, signal === undefined ? {} : ({ signal, signalArgs: args } as object));
  else if (signal !== undefined) await link.signal(getId(row), { signal, args });
}

function createLink<Row extends OutboxRow, Open extends object>(
  declared: RowWorkflow<Row, Open>,
  client: Client,
  options: DispatchOptions,
): RowLink<Row> {
  const { workflow } = declared;
  return {
    client,
    async start(row, { config }, more = {}) {
      const type = typeof workflow === 'string' ? workflow : workflow(row);
      const start = { ...buildStartOptions(declared, row, options, config), ...more };
      try {
        if ('signal' in start) await client.workflow.signalWithStart(type, start as WorkflowSignalWithStartOptions);
        else await client.workflow.start(type, start);
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
    async signal(workflowId, { signal, args = [] }, execution) {
      try {
        await client.workflow.getHandle(workflowId, execution).signal(signal, ...args);
        return true;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
  };
}

function buildStartOptions<Row extends OutboxRow, Open extends object>(
  declared: RowWorkflow<Row, Open>,
  row: Row,
  options: DispatchOptions,
  config: Services['config'],
): WorkflowStartOptions {
  const { notes, details, fairnessKey, startOptions } = declared;
  const { searchable } = options;
  const input = declared.input(row, config);
  return {
    workflowId: declared.getId(row),
    taskQueue: buildQueueName(options),
    args: [typeof input === 'string' || searchable ? input : { ...input, searchable: false }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: declared.summary(row),
    ...(details && { staticDetails: toDetailsText(details(row, config), row) }),
    ...(fairnessKey && { priority: { fairnessKey: fairnessKey(row) } }),
    ...(searchable && {
      typedSearchAttributes: toAttributePairs({
        Process: notes[0].process,
        CorrelationId: row.correlation_id,
        ...declared.attributes(row),
      }),
    }),
    ...startOptions?.(row, options),
  };
}

const toDetailsText = (details: readonly string[] | string, { correlation_id }: OutboxRow): string =>
  typeof details === 'string'
    ? details
    : [...details, `Correlation id \`${correlation_id}\`, as in the logs and the audit log`]
        .map((line) => `- ${line}`)
        .join('\n');

/** Returns the search attributes that have a value, for a start. */
export const toAttributePairs = (values: Attributes): SearchAttributePair[] =>
  Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => ({ key: SEARCH_ATTRIBUTES[name as keyof typeof SEARCH_ATTRIBUTES], value }) as SearchAttributePair);
