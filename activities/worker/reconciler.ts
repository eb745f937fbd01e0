import type { Client } from '@temporalio/client';
import type { Services } from '../../api/core/context.js';
import { NO_ID } from '../../api/core/fields.js';
import { AUTOMATION_RUN, runWorkflowId, taskQueue } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../../workflows/search-attributes.js';
import { hasAttributes, listOpenWorkflows, type OpenWorkflow, SETTLED_AFTER_MS } from './open-workflows.js';
import { canOwnRun, incarnationOf, type OpenRun, recoverRun, wakeExecution } from '../run-execution.js';

const CONCURRENCY = 10;
const PAGE_SIZE = 1_000;

/** An open run with what its workflow should be doing. */
interface CheckedRun extends OpenRun {
  state: 'paused' | 'waiting' | null;
  until: Date | null;
}

/**
 * ? = run id to go on after. A start that waits in the outbox starts its run by itself. Every other open run was handed to Temporal before
 * this statement began, however young it is, because the outbox keeps a start until Temporal has it.
 */
const OPEN_RUNS = /* sql */ `
  select r.run_id, r.incarnation, r.claimed_by, false as is_start_due,
    case when r.status = 'paused' then 'paused' when d.due_at is not null then 'waiting' end as state,
    case when r.status = 'paused' then r.gate_expires_at else d.due_at end as until
  from automation_runs r
  left join lateral (select a.due_at from run_actions a
    where a.run_id = r.run_id and a.status = 'running' and a.due_at is not null limit 1) d on true
  where r.finished_at is null
    and not exists (select from outbox o where o.kind = 'run.start' and o.payload->>'run_id' = r.run_id::text)
    and r.run_id > ? order by r.run_id limit ${PAGE_SIZE}`;

/** True when the workflow does not wait for what its row waits for: one of the two stores was restored from an older backup. */
function isOutOfStep({ state, until }: CheckedRun, { attributes }: OpenWorkflow): boolean {
  if ((attributes.get(ATTRIBUTE.RunState) ?? null) !== state) return true;
  const shown = attributes.get(state === 'paused' ? ATTRIBUTE.GateExpiresAt : ATTRIBUTE.NextAttemptAt);
  return state !== null && shown?.getTime() !== until?.getTime();
}

interface ReconcileOptions {
  taskQueuePrefix: string;
  /** The first pass after a connection was made: a workflow without search attributes is woken then, for it cannot be compared. */
  isFirst: boolean;
}

/** Restarts a run without an execution, and wakes an execution that is out of step. Returns true when the run was restarted. */
async function checkRun(
  services: Services,
  client: Client,
  row: CheckedRun,
  found: OpenWorkflow | undefined,
  isFirst: boolean,
): Promise<boolean> {
  const execution = found && { execution: found.runId, incarnation: incarnationOf(found.memo) };
  if (!found || !execution || !canOwnRun(row, execution)) return recoverRun(services, client, row);
  if (hasAttributes(found) ? isOutOfStep(row, found) : isFirst) await wakeExecution(client, row.run_id, found.runId);
  return false;
}

/** Calls `work` for each item, a few at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const take = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, take));
}

/**
 * Compares the open runs of the database with the open workflows of Temporal: what a lost store, one restored from a backup, a terminated
 * or a timed-out workflow left behind. One list of workflows costs a call for a thousand of them; what is not on it is asked for, because
 * the list may lag behind. A workflow whose run has ended or is gone is woken, and ends. Several workers may do this at once: each restart
 * is a compare-and-set. Returns how many runs were restarted.
 */
export async function reconcileRuns(services: Services, client: Client, options: ReconcileOptions): Promise<number> {
  const queue = taskQueue(options.taskQueuePrefix, 'core');
  const listed = await listOpenWorkflows(client, AUTOMATION_RUN, queue);
  let restarted = 0;
  for (let after = NO_ID; ; ) {
    const { rows } = await services.db.raw<{ rows: CheckedRun[] }>(OPEN_RUNS, [after]);
    await each(rows, async (row) => {
      const found = listed.get(runWorkflowId(row.run_id));
      listed.delete(runWorkflowId(row.run_id));
      if (await checkRun(services, client, row, found, options.isFirst)) restarted += 1;
    });
    after = rows.at(-1)?.run_id ?? after;
    if (rows.length < PAGE_SIZE) break;
  }
  const orphans = [...listed.values()].filter(({ startTime }) => Date.now() - startTime.getTime() > SETTLED_AFTER_MS);
  await each(orphans, ({ workflowId, runId }) => wakeExecution(client, workflowId.slice(runWorkflowId('').length), runId));
  if (restarted > 0) services.log.warn({ restarted }, 'runs without a workflow were restarted');
  return restarted;
}
