import { defineStatement, run as sql } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import type { ActionRow, RunStatus } from '../record/rules.js';
import { type RunExecution, claimRun, findTerminalStatus } from './claim-run.js';
import { restartRun } from './restart-run.js';
import { settleRun } from './settle-run.js';

/**
 * $1 = run id. Returns the steps in order and marks an approved gate as succeeded. A separate statement after the row lock, so
 * that it sees decisions committed while the lock was awaited.
 */
const stepsStatement = defineStatement({
  name: 'steps_of_run',
  text: /* sql */ `
with approved as (
  update run_actions a set status = 'succeeded', finished_at = g.decided_at from gates g
  where a.run_id = $1 and g.run_id = a.run_id and g.gate_index = a.index and g.decision = 'approved'
  returning a.index
)
select a.index, a.type, a.error, a.on_failure,
  case when a.index in (select index from approved) then 'succeeded' else a.status end as status,
  exists (select from gates g where g.run_id = $1 and g.decision = 'rejected') as rejected
from run_actions a where a.run_id = $1 order by a.index`,
});

type FinalStep = ActionRow & { rejected: boolean; on_failure: 'continue' | 'stop' } & Record<string, unknown>;

/** Returns false if the rows were restored from an older backup and are behind the execution. */
const areOver = (steps: readonly FinalStep[]): boolean =>
  steps.some(({ status, on_failure }) => status === 'failed' && on_failure === 'stop') ||
  steps.every(({ status }) => status === 'succeeded' || status === 'failed' || status === 'skipped');

/**
 * Ends a run that no action ended: its last step is a gate, it has no steps, or the workflow was cancelled. Returns the final
 * status; null if another execution owns the run, or if it was restarted because its rows have steps left. `cancelled`: an
 * operator cancelled the workflow.
 */
export async function finishRun(services: Services, owner: RunExecution, cancelled: boolean): Promise<RunStatus | null> {
  const status = await services.db.transaction(async (db): Promise<RunStatus | null> => {
    const run = await claimRun(db, owner);
    if (!run) return findTerminalStatus(db, owner);
    const steps = await sql<FinalStep>(db, stepsStatement, [run.run_id]);
    const rejected = steps.some((step) => step.rejected);
    if (!cancelled && !rejected && !areOver(steps)) {
      await restartRun(db, run);
      return null;
    }
    return settleRun({ ...services, db }, run, steps, { how: cancelled ? 'cancelled' : rejected ? 'rejected' : undefined });
  });
  services.notifyRelay();
  return status;
}
