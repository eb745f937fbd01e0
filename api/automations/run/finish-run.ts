import { run as sql, type Statement } from '../../../db/statement.js';
import type { Services } from '../../core/context.js';
import { type ActionRow, errorOf, type RunStatus, settle } from '../rules.js';
import { endRun } from './end-run.js';
import { lockRun } from './load-run.js';

/**
 * $1 run. The steps in order; an approved gate is marked as the step that succeeded. A statement of its own behind the lock of the
 * run's row, so that it sees what was decided while that was waited for.
 */
const settleStatement: Statement = {
  name: 'settle_run',
  text: /* sql */ `
with approved as (
  update run_actions a set status = 'succeeded', finished_at = g.decided_at from gates g
  where a.run_id = $1 and g.run_id = a.run_id and g.gate_index = a.index and g.decision = 'approved'
  returning a.index
)
select a.index, a.type, a.error,
  case when a.index in (select index from approved) then 'succeeded' else a.status end as status,
  exists (select from gates g where g.run_id = $1 and g.decision = 'rejected') as rejected
from run_actions a where a.run_id = $1 order by a.index`,
};

/** A replay that succeeds takes the run off the dead-letter list, and every run of which that one was a replay (F10). */
const MARK_REPLAYED = /* sql */ `
  with recursive line as (
    select run_id, retry_of, ?::uuid as by from automation_runs where run_id = ?
    union all
    select r.run_id, r.retry_of, l.by from line l join automation_runs r on r.run_id = l.retry_of
  )
  update automation_runs r set retried_by = line.by from line where r.run_id = line.run_id`;

/**
 * Settles a run from its rows and returns the status it ended with. An action that failed is never hidden; a gate that was
 * approved counts as an action that succeeded. `cancelled`: an operator cancelled the workflow.
 */
export async function finishRun(services: Services, runId: string, cancelled: boolean): Promise<RunStatus> {
  const status = await services.db.transaction(async (db): Promise<RunStatus> => {
    const run = await lockRun(db, runId);
    if (!run) return 'cancelled';
    if (run.finished_at) return run.status;
    const actions = await sql<ActionRow & { rejected: boolean } & Record<string, unknown>>(db, settleStatement, [runId]);
    const rejected = actions.some((action) => action.rejected);
    const settled = cancelled ? { status: 'cancelled' as const, skipReason: null } : settle(actions, rejected);
    await endRun({ ...services, db }, run, {
      ...settled,
      error: settled.status === 'failed' ? errorOf(actions) : null,
      feature: 'automations',
      action: 'execute',
      summary: `ended a run of ${run.automation_name}: ${settled.status}`,
    });
    if (run.retry_of && settled.status === 'succeeded') await db.raw(MARK_REPLAYED, [runId, run.retry_of]);
    return settled.status;
  });
  services.ring();
  return status;
}
