import type { Services } from '../../core/context.js';
import { type ActionRow, errorOf, type RunStatus, settle } from '../rules.js';
import { endRun } from './end-run.js';
import { lockRun } from './load-run.js';

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
    await db.raw(
      `update run_actions a set status = 'succeeded', finished_at = g.decided_at from gates g
       where a.run_id = ? and g.run_id = a.run_id and g.gate_index = a.index and g.decision = 'approved'`,
      [runId],
    );
    const actions = await db('run_actions')
      .where({ run_id: runId })
      .orderBy('index')
      .select<ActionRow[]>('index', 'type', 'status', 'error');
    const rejected = await db('gates').where({ run_id: runId, decision: 'rejected' }).first<object | undefined>();
    const settled = cancelled ? { status: 'cancelled' as const, skipReason: null } : settle(actions, rejected !== undefined);
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
