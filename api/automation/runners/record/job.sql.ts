import { defineStatement } from '../../../../db/statement.js';

/** $1 = job id. The record of a job. */
export const jobRecordStatement = defineStatement({
  name: 'runner_job_record',
  text: 'select runner_job_json(j) as job from runner_jobs j where j.job_id = $1',
});

/**
 * $1 = job id, $2 = status, $3 = exit code, $4 = output, $5 = error code, $6 = error. Ends an open job and
 * wakes the run that waits for it. No row: it had ended.
 */
export const endJobStatement = defineStatement({
  name: 'end_runner_job',
  text: /* sql */ `
with ended as (
  update runner_jobs j set status = $2, exit_code = $3, output = $4, error_code = $5, error = $6, finished_at = clock_timestamp(),
    lease_until = null, masked_values = null, masked_tail = null
  from (select job_id, status from runner_jobs where job_id = $1 and finished_at is null for update) before
  where j.job_id = before.job_id
  returning j.*, before.status as status_before
), wakes as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'run.wake', r.run_id::text, jsonb_build_object('run_id', r.run_id, 'incarnation', r.incarnation), r.correlation_id
  from ended join automation_runs r using (run_id) where r.finished_at is null
)
select e.status_before, e.team_id, e.created_by, e.cause_user_ids, e.depth, e.correlation_id from ended e`,
});
