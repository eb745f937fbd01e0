import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { inTransaction, type Services, serviceContext } from '../api/core/context.js';
import { NO_ID } from '../api/core/fields.js';
import { enqueue } from '../api/core/outbox.js';
import { AUTOMATION_RUN, runWorkflowId } from '../workflows/contract.js';
import { reconcileDeprovisions } from './deprovisioning.js';
import { reconcileSeries } from './recurrence.js';

/** Runs younger than this may simply not have been dispatched yet, s. */
const SETTLED_AFTER_SECONDS = 60;
const AT_ONCE = 10;
const PAGE = 1_000;

interface OpenRun {
  run_id: string;
  incarnation: number;
  correlation_id: string;
}

/** A page of open runs whose start is not waiting in the outbox: older than so many seconds, after this run id. */
const OPEN_RUNS = /* sql */ `
  select r.run_id, r.incarnation, r.correlation_id from automation_runs r
  where r.finished_at is null and r.queued_at < now() - make_interval(secs => ?)
    and not exists (select from outbox o where o.kind = 'run.start' and o.payload->>'run_id' = r.run_id::text)
    and r.run_id > ? order by r.run_id limit ${PAGE}`;

async function isCarried(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Workflows of runs that Temporal lists as running: a call for a thousand of them, where asking for each costs over a CPU
 * millisecond. The list may lag behind by a moment, so what is not on it is asked for; what has just ended is seen the next time.
 */
async function listedRuns(client: Client): Promise<Set<string>> {
  const query = `WorkflowType = '${AUTOMATION_RUN}' and ExecutionStatus = 'Running'`;
  const listed = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query, pageSize: PAGE })) listed.add(workflowId);
  return listed;
}

/** Starts a run again from its row, under the next incarnation: whatever is left of the old one finds nothing to claim. */
async function restart(services: Services, run: OpenRun): Promise<boolean> {
  return inTransaction(serviceContext(services, 'reconciler', run.correlation_id), async (ctx) => {
    const incarnation = run.incarnation + 1;
    const taken = await ctx
      .db('automation_runs')
      .where({ run_id: run.run_id, incarnation: run.incarnation })
      .whereNull('finished_at')
      .update({ incarnation, claimed_by: null });
    if (taken === 1) await enqueue(ctx, 'run.start', run.run_id, { run_id: run.run_id, incarnation });
    return taken === 1;
  });
}

/**
 * Compares the open runs of the database with Temporal and starts again those that no open workflow carries: what a lost
 * Temporal file, a terminated or a timed-out workflow left behind (durability notes, 3.1). Returns how many.
 */
async function reconcileRuns(services: Services, client: Client, minAge: number): Promise<number> {
  let restarted = 0;
  let listed: Set<string> | undefined;
  for (let after = NO_ID; ; ) {
    const { rows } = await services.db.raw<{ rows: OpenRun[] }>(OPEN_RUNS, [minAge, after]);
    if (rows.length > 0) listed ??= await listedRuns(client);
    const missing = rows.filter(({ run_id }) => !listed?.has(runWorkflowId(run_id)));
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const batch = missing.slice(at, at + AT_ONCE);
      const carried = await Promise.all(batch.map((run) => isCarried(client, runWorkflowId(run.run_id))));
      for (const [i, run] of batch.entries()) {
        if (!carried[i] && (await restart(services, run))) restarted += 1;
      }
    }
    after = rows.at(-1)?.run_id ?? after;
    if (rows.length < PAGE) break;
  }
  if (restarted > 0) services.log.warn({ restarted }, 'runs without a workflow were started again');
  return restarted;
}

/** Runs, recurring series and people's leaving that lost their workflow go on. Returns how many; `minAge` in seconds. */
export async function reconcileAll(services: Services, client: Client, minAge = SETTLED_AFTER_SECONDS): Promise<number> {
  const runs = await reconcileRuns(services, client, minAge);
  const series = await reconcileSeries(services, client, minAge);
  return runs + series + (await reconcileDeprovisions(services, (id) => isCarried(client, id), minAge));
}
