import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { restartRun } from '../api/runs/execution/restart-run.js';
import type { Services } from '../api/core/context.js';
import { run, type Statement } from '../db/statement.js';
import { DECIDED_SIGNAL, runWorkflowId } from '../workflows/contract.js';

/** What an open run's row says about its execution. */
export interface OpenRun extends Record<string, unknown> {
  run_id: string;
  incarnation: number;
  /** Id of the execution that claimed the run. */
  claimed_by: string | null;
  /** Its start waits in the outbox. */
  is_start_due: boolean;
}

/** An execution of a run's workflow, as Temporal knows it. */
export interface RunExecution {
  execution: string;
  /** Of the start that created it. */
  incarnation: number;
}

/** $1 = run id */
const readStatement: Statement = {
  name: 'read_open_run',
  text: /* sql */ `
select r.run_id, r.incarnation, r.claimed_by,
  exists (select from outbox o where o.kind = 'run.start' and o.subject = r.run_id::text) as is_start_due
from automation_runs r where r.run_id = $1 and r.finished_at is null`,
};

/** Reads the row of a run that has not ended; undefined when it has, or when there is no such run. */
export async function readOpenRun({ db }: Pick<Services, 'db'>, runId: string): Promise<OpenRun | undefined> {
  const [row] = await run<OpenRun>(db, readStatement, [runId]);
  return row;
}

/** The memo names the incarnation from the second one on. */
export const incarnationOf = (memo: Record<string, unknown> | undefined): number => Number(memo?.['incarnation'] ?? 1);

/**
 * Returns the open execution of a run's workflow, undefined when there is none.
 * @throws what Temporal's client throws when the server is away
 */
async function findExecution(client: Client, runId: string): Promise<RunExecution | undefined> {
  try {
    const { runId: execution, status, memo } = await client.workflow.getHandle(runWorkflowId(runId)).describe();
    const isOpen = status.name === 'RUNNING' || status.name === 'PAUSED';
    return isOpen ? { execution, incarnation: incarnationOf(memo) } : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** True when the execution claimed the run, or still may. */
export const canOwnRun = ({ claimed_by, incarnation }: OpenRun, found: RunExecution): boolean =>
  claimed_by === null ? found.incarnation === incarnation : found.execution === claimed_by;

/**
 * Signals an execution of a run to read its rows again. Without `execution`: whichever is open.
 * @returns false when there is none, or when it has ended
 */
export async function wakeExecution(client: Client, runId: string, execution?: string, gateIndex?: number): Promise<boolean> {
  try {
    await client.workflow.getHandle(runWorkflowId(runId), execution).signal(DECIDED_SIGNAL, gateIndex);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Ends an execution that cannot claim its run: it belongs to another incarnation, or to rows that were lost in a restore. */
async function terminate(client: Client, runId: string, execution: string): Promise<void> {
  try {
    await client.workflow.getHandle(runWorkflowId(runId), execution).terminate('its run was restarted under another incarnation');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/**
 * Makes room for an open run to go on. An execution that can carry it is woken: it may have claimed nothing yet, or may know of a later
 * state than the rows do after a restore, and then it restarts the run itself (`restartRun`). Any other execution is terminated.
 * @returns `carried`, or with `free` the lowest incarnation that no execution has had
 */
export async function freeRun(client: Client, row: OpenRun): Promise<'carried' | { free: number }> {
  const found = await findExecution(client, row.run_id);
  if (!found) return { free: 0 };
  if (canOwnRun(row, found) && (await wakeExecution(client, row.run_id, found.execution))) return 'carried';
  await terminate(client, row.run_id, found.execution);
  return { free: found.incarnation + 1 };
}

/**
 * Restarts an open run that no execution carries: its workflow was lost, was terminated, or belongs to another incarnation. A start that
 * waits in the outbox is left to do so. May be called by several workers at once: the compare-and-set lets one of them restart.
 * @returns true when this call restarted it
 */
export async function recoverRun(services: Services, client: Client, row: OpenRun): Promise<boolean> {
  if (row.claimed_by === null && row.is_start_due) return false;
  const found = await freeRun(client, row);
  if (found === 'carried' || !(await restartRun(services.db, row, found.free))) return false;
  services.log.warn({ run_id: row.run_id, incarnation: row.incarnation }, 'a run without a workflow was restarted');
  services.notifyRelay();
  return true;
}
