import { defineStatement } from '../../../../db/statement.js';
import { wakeTurnsOfRun } from '../../../agent/run-steps/step-of-turn.sql.js';
import { CLOSE_STEP, IS_LEFT } from './close-steps.sql.js';
import { wakeRun } from './wake-run.sql.js';

/**
 * $1 = automation id, $2 = run id or null for all, $3 = statuses, $4 = correlation id. A concurrent decision or action either
 * commits first or finds the run cancelled, because all of them update the run's row. Only a claimed run has a workflow to wake;
 * a workflow that starts later finds nothing to claim. A run in a delay or between two attempts counts as waiting, like a paused
 * one. Jobs of runners that the runs wait for are cancelled with them, and calls of models are stopped.
 */
export const cancelRunsStatement = defineStatement({
  name: 'cancel_runs',
  text: /* sql */ `
with gone as (
  update automation_runs set status = 'cancelled', finished_at = clock_timestamp()
  where automation_id = $1 and ($2::uuid is null or run_id = $2) and finished_at is null and (status = any($3::text[]) or exists (
    select from run_actions a where a.run_id = automation_runs.run_id and a.status = 'running' and a.due_at is not null))
  returning run_id, incarnation, claimed_by
), left_steps as (
  update run_actions a set ${CLOSE_STEP} from gone where a.run_id = gone.run_id and ${IS_LEFT}
), jobs as (
  update runner_jobs j set cancel_requested_at = coalesce(j.cancel_requested_at, clock_timestamp())
  from gone where j.run_id = gone.run_id and j.finished_at is null
), turns as (${wakeTurnsOfRun('gone')}
), wakes as (${wakeRun({ correlationId: '$4::uuid', from: 'from gone where claimed_by is not null' })}
)
select count(*)::int as cancelled from gone`,
});
