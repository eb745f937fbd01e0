import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = days, $2 = row limit, $3 = limit of blocks. Deletes jobs that ended so long ago, with their logs, and gives back what these counted of
 * the quotas.
 */
export const deleteOldJobsStatement = defineStatement({
  name: 'delete_old_runner_jobs',
  text: /* sql */ `
with old as materialized (
  select job_id, finished_at, log_blocks from runner_jobs where finished_at < now() - make_interval(days => $1)
  order by finished_at, job_id limit $2 for update skip locked
), batch as (
  select job_id, sum(log_blocks) over (order by finished_at, job_id) - log_blocks as blocks_before from old
), gone as (
  delete from runner_jobs where job_id in (select job_id from batch where blocks_before < $3) returning job_id, team_id, log_blocks
), freed as (
  select team_id, sum(log_blocks) as blocks from gone where log_blocks > 0 group by team_id
), locked as materialized (
  -- In order: several workers may do this at the same time.
  select team_id from runner_log_usage where team_id in (select team_id from freed) order by team_id for update
), given_back as (
  update runner_log_usage u set blocks = u.blocks - f.blocks from freed f join locked using (team_id) where u.team_id = f.team_id
)
select job_id from gone`,
});
