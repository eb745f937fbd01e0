import { defineStatement } from '../../../../db/statement.js';

/**
 * SQL: the next moment at which a clock of a job `j` is over. $2 = seconds for a job to be taken, $3 = seconds that a runner has to stop the
 * command of a cancelled or late job.
 */
const CLOCKS = /* sql */ `
  case when j.status = 'queued' then j.queued_at + make_interval(secs => $2)
    when j.finished_at is null then least(j.lease_until, j.claimed_at + make_interval(mins => j.timeout_minutes, secs => $3),
      j.cancel_requested_at + make_interval(secs => $3)) end`;

/** SQL: the reason to end a job `j` now; null if there is none. */
const REASON = /* sql */ `
  case when j.finished_at is not null then null
    when j.status = 'queued' then case
      when j.cancel_requested_at is not null then 'cancelled'
      when j.queued_at + make_interval(secs => $2) <= clock_timestamp() then 'never_claimed' end
    when j.lease_until <= clock_timestamp() then 'lease_over'
    when j.claimed_at + make_interval(mins => j.timeout_minutes, secs => $3) <= clock_timestamp() then 'timed_out'
    when j.cancel_requested_at + make_interval(secs => $3) <= clock_timestamp() then 'not_stopped' end`;

const COLUMNS = /* sql */ `
  j.status, j.exit_code, j.error_code, j.correlation_id, ${REASON} as reason, due.at as due_at,
  ceil(greatest(extract(epoch from due.at - clock_timestamp()) * 1000, 0))::float8 as ms_left`;

const FROM = `from runner_jobs j cross join lateral (select ${CLOCKS} as at) due where j.job_id = $1`;

/** $1 = job id. What the clocks of a job say. */
export const viewJobStatement = defineStatement({ name: 'view_runner_job', text: `select ${COLUMNS} ${FROM}` });

/** The same, with the job locked until the commit. */
export const lockJobClocksStatement = defineStatement({
  name: 'lock_runner_job_clocks',
  text: `select ${COLUMNS} ${FROM} for update of j`,
});
