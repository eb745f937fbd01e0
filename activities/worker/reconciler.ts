import type { Client } from '@temporalio/client';
import type { Services } from '../../api/core/context.js';
import { NO_ID } from '../../api/core/fields.js';
import { AUTOMATION_RUN, runWorkflowId, taskQueue } from '../../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../../workflows/search-attributes.js';
import { each } from './each.js';
import { hasAttributes, listOpenWorkflows, type OpenWorkflow, SETTLED_AFTER_MS } from './open-workflows.js';
import { canOwnRun, incarnationOf, type OpenRun, recoverRun, wakeExecution } from '../run-execution.js';

const PAGE_SIZE = 1_000;

/** An open run with the expected state of its workflow. */
interface CheckedRun extends OpenRun {
  state: 'paused' | 'waiting' | null;
  until: Date | null;
}

/**
 * ? = run id after which to continue. Omits runs whose start is in the outbox. Every other open run was dispatched before this
 * statement, however young it is, because the outbox keeps a start until Temporal has it.
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

const IS_UNCLAIMED = `r.finished_at is null and r.status in ('queued', 'running') and r.claimed_by is null`;
/**
 * ? = run id after which to continue. Runs that no execution has claimed for a while, whose start is not in the outbox: Temporal has
 * acknowledged it. Few, but in a backlog.
 */
const UNCLAIMED_RUNS = /* sql */ `
  select r.run_id, r.incarnation, r.claimed_by, false as is_start_due
  from automation_runs r
  where ${IS_UNCLAIMED} and r.queued_at < now() - make_interval(secs => ${SETTLED_AFTER_MS / 1_000})
    and not exists (select from outbox o where o.kind = 'run.start' and o.subject = r.run_id::text)
    and r.run_id > ? order by r.run_id limit ${PAGE_SIZE}`;
/** Difference in ms that the clocks of PostgreSQL and Temporal may have. */
const CLOCK_SKEW_MS = 60_000;

/** Returns a time before which no unclaimed run was queued. Ids of runs are in no order, so a page of them does not tell. */
async function oldestUnclaimed({ db }: Services): Promise<Date> {
  const sql = `select coalesce(min(r.queued_at), now()) as oldest from automation_runs r where ${IS_UNCLAIMED}`;
  const { rows } = await db.raw<{ rows: { oldest: Date }[] }>(sql);
  return new Date((rows[0] as { oldest: Date }).oldest.getTime() - CLOCK_SKEW_MS);
}

/** Returns true if the workflow waits for something else than its row: one of the stores was restored from an older backup. */
function isOutOfStep({ state, until }: CheckedRun, { attributes }: OpenWorkflow): boolean {
  if ((attributes.get(ATTRIBUTE.RunState) ?? null) !== state) return true;
  const shown = attributes.get(state === 'paused' ? ATTRIBUTE.GateExpiresAt : ATTRIBUTE.NextAttemptAt);
  return state !== null && shown?.getTime() !== until?.getTime();
}

interface ReconcileOptions {
  taskQueuePrefix: string;
  /** First pass after a connection: wakes workflows without search attributes too, because they cannot be compared. */
  isFirst: boolean;
}

/**
 * Restarts a run without an execution, and wakes an execution that differs from its row. Returns true if the run was restarted.
 */
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

/**
 * Compares the database's open runs with Temporal's open workflows: stores may be lost or restored, and workflows terminated or
 * timed out. One list call returns a thousand workflows; a missing one is checked by itself, because the list may be behind.
 * Wakes a workflow whose run has ended or was deleted, so that it ends. Several workers may do this at once: each restart is a
 * compare-and-set. Returns the number of runs restarted.
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

/**
 * Restarts the runs that nobody has begun and that have no workflow: it was lost after Temporal had acknowledged its start, or was terminated
 * before its first step. Costs one query while there are none, so that it may run often; a backlog costs one list call per thousand workflows
 * started since its oldest run; further pages of runs list only what has started meanwhile. A run that is not listed is asked for by itself.
 * Returns the number of runs restarted.
 */
export async function restartUnclaimed(
  services: Services,
  client: Client,
  { taskQueuePrefix }: Pick<ReconcileOptions, 'taskQueuePrefix'>,
): Promise<number> {
  const queue = taskQueue(taskQueuePrefix, 'core');
  const listed = new Map<string, OpenWorkflow>();
  let since: Date | undefined;
  let restarted = 0;
  for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
    const { rows } = await services.db.raw<{ rows: OpenRun[] }>(UNCLAIMED_RUNS, [after]);
    if (rows.length === 0) break;
    since ??= await oldestUnclaimed(services);
    const at = Date.now();
    for (const [id, found] of await listOpenWorkflows(client, AUTOMATION_RUN, queue, since)) listed.set(id, found);
    since = new Date(at - SETTLED_AFTER_MS);
    await each(rows, async (row) => {
      const found = listed.get(runWorkflowId(row.run_id));
      const isCarried = found && canOwnRun(row, { execution: found.runId, incarnation: incarnationOf(found.memo) });
      if (!isCarried && (await recoverRun(services, client, row))) restarted += 1;
    });
    after = rows.at(-1)?.run_id ?? after;
    size = rows.length;
  }
  return restarted;
}
