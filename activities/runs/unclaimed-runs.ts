import type { Client } from '@temporalio/client';
import type { Services } from '../../api/platform/context.js';
import { NO_ID } from '../../api/platform/fields.js';
import { run } from '../../db/statement.js';
import { taskQueue } from '../../workflows/contracts/queues.js';
import { AUTOMATION_RUN, runWorkflowId } from '../../workflows/contracts/run-contract.js';
import { oldestUnclaimedStatement, unclaimedRunsStatement } from './automation-runs.sql.js';
import { canOwnRun, getIncarnation, type OpenRun, recoverRun } from './run-execution.js';
import { each } from '../worker/each.js';
import { listOpenWorkflows, type OpenWorkflow, SETTLED_AFTER_MS } from '../worker/open-workflows.js';

const PAGE_SIZE = 1_000;
/** Difference in ms that the clocks of PostgreSQL and Temporal may have. */
const CLOCK_SKEW_MS = 60_000;

/** Returns a time before which no unclaimed run was queued. Ids of runs are in no order, so a page of them does not tell. */
async function oldestUnclaimed({ db }: Services): Promise<Date> {
  const [row] = await run<{ oldest: Date }>(db, oldestUnclaimedStatement, []);
  return new Date((row as { oldest: Date }).oldest.getTime() - CLOCK_SKEW_MS);
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
  { taskQueuePrefix }: { taskQueuePrefix: string },
): Promise<number> {
  const queue = taskQueue(taskQueuePrefix, 'core');
  const listed = new Map<string, OpenWorkflow>();
  let since: Date | undefined;
  let restarted = 0;
  for (let after = NO_ID, size = PAGE_SIZE; size === PAGE_SIZE; ) {
    const rows = await run<OpenRun>(services.db, unclaimedRunsStatement, [after, PAGE_SIZE]);
    if (rows.length === 0) break;
    since ??= await oldestUnclaimed(services);
    const at = Date.now();
    for (const [id, found] of await listOpenWorkflows(client, AUTOMATION_RUN, queue, since)) listed.set(id, found);
    since = new Date(at - SETTLED_AFTER_MS);
    await each(rows, async (row) => {
      const found = listed.get(runWorkflowId(row.run_id));
      const isCarried = found && canOwnRun(row, { execution: found.runId, incarnation: getIncarnation(found.memo) });
      if (!isCarried && (await recoverRun(services, client, row))) restarted += 1;
    });
    after = rows.at(-1)?.run_id ?? after;
    size = rows.length;
  }
  return restarted;
}
