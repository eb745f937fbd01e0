import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { restartRun } from '../../api/automation/runs/execution/restart-run.js';
import type { Services } from '../../api/platform/context.js';
import { defineStatement, run } from '../../db/statement.js';
import { DECIDED_SIGNAL, runWorkflowId } from '../../workflows/contracts/run-contract.js';

/** Execution state of an open run, from its row. */
export interface OpenRun extends Record<string, unknown> {
  run_id: string;
  incarnation: number;
  /** Id of the execution that claimed the run. */
  claimed_by: string | null;
  /** Its start has a row in the outbox. */
  is_start_due: boolean;
}

/** An execution of a run's workflow, from Temporal. */
export interface RunExecution {
  execution: string;
  /** Incarnation of the start that created it. */
  incarnation: number;
}

/** $1 = run id */
const readStatement = defineStatement({
  name: 'read_open_run',
  text: /* sql */ `
select r.run_id, r.incarnation, r.claimed_by,
  exists (select from outbox o where o.kind = 'run.start' and o.subject = r.run_id::text) as is_start_due
from automation_runs r where r.run_id = $1 and r.finished_at is null`,
});

/** Reads the row of an open run; undefined if it has ended or does not exist. */
export async function readOpenRun({ db }: Pick<Services, 'db'>, runId: string): Promise<OpenRun | undefined> {
  const [row] = await run<OpenRun>(db, readStatement, [runId]);
  return row;
}

/** Returns the incarnation; the memo holds it from the second one on. */
export const getIncarnation = (memo: Record<string, unknown> | undefined): number => Number(memo?.['incarnation'] ?? 1);

/**
 * Returns the open execution of a run's workflow, or undefined.
 * @throws the client's error if the server is unavailable
 */
async function findExecution(client: Client, runId: string): Promise<RunExecution | undefined> {
  try {
    const { runId: execution, status, memo } = await client.workflow.getHandle(runWorkflowId(runId)).describe();
    const isOpen = status.name === 'RUNNING' || status.name === 'PAUSED';
    return isOpen ? { execution, incarnation: getIncarnation(memo) } : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Returns true if the execution has claimed the run or still may. */
export const canOwnRun = ({ claimed_by, incarnation }: OpenRun, found: RunExecution): boolean =>
  claimed_by === null ? found.incarnation === incarnation : found.execution === claimed_by;

/**
 * Signals an execution of a run to read its rows again; without `execution`, the open one.
 * @returns false if there is none, or it has ended
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

/** Terminates an execution that cannot claim its run: it belongs to another incarnation, or to rows lost in a restore. */
async function terminate(client: Client, runId: string, execution: string): Promise<void> {
  try {
    await client.workflow.getHandle(runWorkflowId(runId), execution).terminate('the run was restarted under another incarnation');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/**
 * Lets an open run continue. Wakes an execution that can own it: it may have claimed nothing yet. After a restore it may be ahead
 * of the rows; it then restarts the run itself (`restartRun`). Terminates any other execution.
 * @returns `carried`, or in `free` the lowest incarnation that no execution has had
 */
export async function freeRun(client: Client, row: OpenRun): Promise<'carried' | { free: number }> {
  const found = await findExecution(client, row.run_id);
  if (!found) return { free: 0 };
  if (canOwnRun(row, found) && (await wakeExecution(client, row.run_id, found.execution))) return 'carried';
  await terminate(client, row.run_id, found.execution);
  return { free: found.incarnation + 1 };
}

/**
 * Restarts an open run that no execution owns: its workflow was lost, was terminated, or belongs to another incarnation. Leaves a
 * run whose start is in the outbox. Several workers may call this at once: the compare-and-set lets only one restart it.
 * @returns true if this call restarted it
 */
export async function recoverRun(services: Services, client: Client, row: OpenRun): Promise<boolean> {
  if (row.claimed_by === null && row.is_start_due) return false;
  const found = await freeRun(client, row);
  if (found === 'carried' || !(await restartRun(services.db, row, found.free))) return false;
  services.log.warn({ run_id: row.run_id, incarnation: row.incarnation }, 'a run without a workflow was restarted');
  services.notifyRelay();
  return true;
}
