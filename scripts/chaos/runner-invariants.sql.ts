import type { Invariant } from './invariant.js';

/** What must hold of jobs of runners. */
export const runnerInvariants: readonly Invariant[] = [
  {
    name: 'jobs_run_once',
    words: 'No job was claimed or completed twice, and none has both been lost and reported',
    sql: /* sql */ `
      select format('job %s is %s: %s claims, %s ends', j.job_id, j.status, n.claims, n.ends) as violation
      from runner_jobs j cross join lateral (
        select count(*) filter (where a.action = 'claim') as claims, count(*) filter (where a.action = 'complete') as ends
        from audit_entries a where a.entity_type = 'runner_job' and a.entity_id = j.job_id::text
      ) n
      where n.claims > 1 or n.ends <> case when j.finished_at is null then 0 else 1 end or (n.claims = 0 and j.claimed_at is not null)`,
  },
  {
    name: 'jobs_end',
    words: 'No runner has held a job for more than 60 s after the end of its lease',
    sql: /* sql */ `
      select format('job %s, held since %s', job_id, claimed_at) as violation from runner_jobs
      where finished_at is null and lease_until < clock_timestamp() - interval '60 seconds'`,
  },
  {
    name: 'jobs_wake_runs',
    words: 'No run waits for a job that ended more than 60 s ago',
    sql: /* sql */ `
      select format('run %s waits for job %s, which is %s', r.run_id, j.job_id, j.status) as violation
      from runner_jobs j join automation_runs r using (run_id)
      join run_actions a on a.run_id = r.run_id and a.index = j.action_index and a.attempts = j.action_attempt
      where j.finished_at < clock_timestamp() - interval '60 seconds' and r.finished_at is null and a.status = 'running'`,
  },
  {
    name: 'jobs_logs_counted',
    words: 'The blocks of a team’s logs are the sum of those of its jobs, each of which counts what it stores',
    sql: /* sql */ `
      select format('team %s: %s blocks, %s counted', team_id, sum(j.log_blocks), u.blocks) as violation
      from runner_jobs j left join runner_log_usage u using (team_id)
      group by team_id, u.blocks having sum(j.log_blocks) <> coalesce(u.blocks, 0)
      union all select format('job %s: %s bytes of log in %s blocks', job_id, log_size, log_blocks)
      from runner_jobs where log_size > log_blocks * 16384 and not is_log_truncated`,
  },
];

/** Every acknowledged report. $1 = the ledger (jsonb). */
export const acknowledgedJobs: readonly Invariant[] = [
  {
    name: 'acked_jobs_ended',
    words: 'Every job whose end was acknowledged to its runner ended like that, with the log that was acknowledged',
    sql: /* sql */ `
      select format('job %s is %s with %s bytes of log, acknowledged %s with %s', a.job_id, coalesce(j.status, 'gone'), j.log_received,
        a.status, a.bytes) as violation
      from jsonb_to_recordset($1::jsonb->'jobs') as a(job_id uuid, status text, bytes bigint)
      left join runner_jobs j on j.job_id = a.job_id
      where j.status is distinct from a.status or j.log_received is distinct from a.bytes`,
  },
];
