import type { Services } from '../../core/context.js';
import { type ActionRow, errorOf, type RunStatus, settle } from '../rules.js';
import { endRun, type LastEffect } from './end-run.js';
import type { RunRow } from './load-run.js';

/** A replay that succeeds takes the run off the dead-letter list, and every run of which that one was a replay (F10). */
const MARK_REPLAYED = /* sql */ `
  with recursive line as (
    select run_id, retry_of, ?::uuid as by from automation_runs where run_id = ?
    union all
    select r.run_id, r.retry_of, l.by from line l join automation_runs r on r.run_id = l.retry_of
  )
  update automation_runs r set retried_by = line.by from line where r.run_id = line.run_id`;

/**
 * Ends a run as its actions say, inside the transaction that holds it, and returns the status it ended with. An action that failed
 * is never hidden by what came after it. `how`: a gate was rejected, or an operator cancelled the workflow. `last`: what the action
 * did that ends the run, still to be marked.
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
    error: settled.status === 'failed' ? errorOf(actions) : null,
    feature: 'automations',
    action: 'execute',
    summary: `ended a run of ${run.automation_name}: ${settled.status}`,
    last,
  });
  if (run.retry_of && settled.status === 'succeeded') await services.db.raw(MARK_REPLAYED, [run.run_id, run.retry_of]);
  return settled.status;
}
