import type { Client, WorkflowStartOptions } from '@temporalio/client';
import type { Services } from '../../api/platform/context.js';
import { NO_ID } from '../../api/platform/fields.js';
import { run, type Statement } from '../../db/statement.js';
import { each } from './each.js';
import { hasAttributes, isWorkflowOpen, listOpenWorkflows, type OpenWorkflow, SETTLED_AFTER_MS } from './open-workflows.js';

/** Rows that one statement reads, and ids that one statement restarts. */
const PAGE_SIZE = 1_000;

export interface Signal {
  signal: string;
  args?: unknown[];
}

/** Temporal, for one kind of row. */
export interface RowLink<Row> {
  client: Client;
  /** Starts the row's workflow. Returns false if it is open, or is closed and `workflowIdReusePolicy` rejects another one. */
  start: (row: Row, services: Services, more?: Partial<WorkflowStartOptions>) => Promise<boolean>;
  /** Signals a workflow, or only one execution of it. Returns false if none is open. */
  signal: (workflowId: string, signal: Signal, execution?: string) => Promise<boolean>;
}

/** What the reconciler knows of rows that have workflows. */
export interface RestorableRows<Row, Open> {
  /** Name of the rows in the log, in the plural. */
  plural: string;
  /** Workflow type. */
  workflow: string | ((row: Row) => string);
  /** Returns the workflow id. */
  getId: (row: Row | Open) => string;
  /**
   * Makes an execution read its row again. The reconciler lists the open workflows only if there is such a signal; without one, it asks for the
   * workflow of each open row, because the rows are few.
   */
  wake?: Signal;
  /** Name of the column that identifies an open row. */
  key?: keyof Open & string;
  /** $1 = key after which to continue, $2 = row limit. Rows that need a workflow and have no row in the outbox. Without it, nothing is restarted. */
  open?: Statement;
  /** Returns whether an open workflow waits for something else than its row: one of the stores was restored from an older backup. */
  isBehind?: (row: Open, found: OpenWorkflow) => boolean;
  /** Returns whether the execution may work on the row; by default any may. */
  owns?: (row: Open, found: OpenWorkflow) => boolean;
  /**
   * $1 = keys of rows without a workflow. Enqueues their starts and returns a row each. A function instead restarts one row, after it has asked for
   * the workflow itself, and returns whether it has restarted the row.
   */
  restart?: Statement | ((row: Open, link: RowLink<Row>, services: Services) => Promise<boolean>);
}

interface Pass<Row> {
  link: RowLink<Row>;
  services: Services;
  /** Task queue of the workflows. */
  queue: string;
  /** First pass after a connection: wakes workflows without search attributes too, because they cannot be compared. */
  isFirst: boolean;
}

/**
 * Compares the open rows with Temporal's open workflows: stores may be lost or restored, and workflows terminated or timed out. Restarts rows
 * without a workflow, wakes workflows that differ from their row, and those whose row has ended or was deleted. One list call returns a thousand
 * workflows; a missing one is asked for by itself, because the list may be behind. Several workers may do this at once. Returns the number of
 * rows restarted.
 */
export async function reconcileRows<Row, Open>(declared: RestorableRows<Row, Open>, pass: Pass<Row>): Promise<number> {
  const { open, key, wake, workflow, plural } = declared;
  const { link, services, queue } = pass;
  if (!open || !key) return 0;
  const listed =
    wake && typeof workflow === 'string'
      ? await listOpenWorkflows(link.client, workflow, queue)
      : new Map<string, OpenWorkflow>();
  let restarted = 0;
  for (let after: unknown = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
    const rows = (await run(services.db, open, [after, PAGE_SIZE])) as Open[];
    restarted += await reconcilePage(declared, pass, rows, listed);
    after = rows.at(-1)?.[key] ?? after;
    size = rows.length;
  }
  const orphans = [...listed.values()].filter(({ startTime }) => Date.now() - startTime.getTime() > SETTLED_AFTER_MS);
  if (wake) await each(orphans, ({ workflowId, runId }) => link.signal(workflowId, wake, runId));
  if (restarted > 0) {
    services.log.warn({ restarted }, `${plural} without a workflow were restarted`);
    services.notifyRelay();
  }
  return restarted;
}

/** Removes the workflows of the rows from `listed`. Returns the number of rows restarted. */
async function reconcilePage<Row, Open>(
  { key, wake, getId, isBehind, owns = () => true, restart }: RestorableRows<Row, Open>,
  { link, services, isFirst }: Pass<Row>,
  rows: readonly Open[],
  listed: Map<string, OpenWorkflow>,
): Promise<number> {
  const lost: unknown[] = [];
  let restarted = 0;
  try {
    await each(rows, async (row) => {
      const id = getId(row);
      const found = listed.get(id);
      listed.delete(id);
      if (found && owns(row, found)) {
        const isStale = isBehind && (hasAttributes(found) ? isBehind(row, found) : isFirst);
        if (isStale && wake) await link.signal(id, wake, found.runId);
      } else if (typeof restart === 'function') {
        if (await restart(row, link, services)) restarted += 1;
      } else if (key && !(await isWorkflowOpen(link.client, id))) lost.push(row[key]);
    });
  } finally {
    // What was found missing before a failure is restarted all the same.
    if (lost.length > 0 && typeof restart === 'object') restarted += (await run(services.db, restart, [lost])).length;
  }
  return restarted;
}
