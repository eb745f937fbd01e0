import type { Services } from '../../core/context.js';
import { type ActionRow, errorOf, type RunStatus, settle } from '../rules.js';
import { endRun, type LastEffect } from './end-run.js';
import type { RunRow } from './load-run.js';

/** A replay that succeeds takes the first failure off the dead-letter list, and every other replay of it that failed (F10). */
const MARK_REPLAYED = /* sql */ `
  update automation_runs set retried_by = :by
  where (run_id = :first or first_run_id = :first) and status = 'failed' and retried_by is null`;

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
  const { run_id: by, first_run_id: first } = run;
  if (first && settled.status === 'succeeded') await services.db.raw(MARK_REPLAYED, { by, first });
  return settled.status;
}
