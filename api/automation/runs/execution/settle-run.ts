import { defineStatement, run as sql } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { type ActionRow, buildError, type RunStatus, settle } from '../record/rules.js';
import { endRun, type LastEffect } from './end-run.js';
import type { RunRow } from './load-run.js';

/** $1 = the replay, $2 = the first run. A successful replay removes the first failure and every other failed replay of it from the dead letter. */
const markReplayedStatement = defineStatement({
  name: 'mark_replayed',
  text: /* sql */ `
    update automation_runs set retried_by = $1
    where (run_id = $2 or first_run_id = $2) and status = 'failed' and retried_by is null`,
});

/**
 * Ends a run by its actions, in the transaction that has locked it, and returns the final status. `how`: a gate was rejected, or
 * an operator cancelled the workflow. `last`: the effect of the action that ends the run, not marked yet.
 */
export async function settleRun(
  services: Services,
  run: RunRow,
  actions: readonly ActionRow[],
  { how, last }: { how?: 'rejected' | 'cancelled' | undefined; last?: LastEffect | undefined } = {},
): Promise<RunStatus> {
  const settled = how === 'cancelled' ? { status: how, skipReason: null } : settle(actions, how === 'rejected');
  await endRun(services, run, {
    ...settled,
    error: settled.status === 'failed' ? buildError(actions) : null,
    feature: 'automations',
    action: 'execute',
    summary: `ended a run of ${run.automation_name}: ${settled.status}`,
    last,
  });
  const { run_id, first_run_id } = run;
  if (first_run_id && settled.status === 'succeeded') await sql(services.db, markReplayedStatement, [run_id, first_run_id]);
  return settled.status;
}
