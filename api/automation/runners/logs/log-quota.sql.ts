import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = team id, $2 = blocks, $3 = blocks of the quota. Adds to the blocks of a team, locked until the commit. Returns how many there are
 * too many.
 */
export const reserveStatement = defineStatement({
  name: 'reserve_runner_log_blocks',
  text: /* sql */ `
    insert into runner_log_usage as u (team_id, blocks) values ($1, $2)
    on conflict (team_id) do update set blocks = u.blocks + $2 returning (u.blocks - $3)::float8 as excess`,
});

/**
 * $1 = team id, $2 = blocks to make free, $3 = limit. Deletes the logs of the team's jobs that ended first, and no more than it needs. Each log
 * frees at least one block. Returns the blocks that are free now. Locks no job for which it would have to wait.
 */
export const makeRoomStatement = defineStatement({
  name: 'make_room_for_runner_logs',
  text: /* sql */ `
with oldest as materialized (
  select job_id, finished_at, log_blocks from runner_jobs
  where team_id = $1 and finished_at is not null and log_blocks > 0
  order by finished_at, job_id limit $3 for update skip locked
), chosen as materialized (
  select job_id, log_blocks from (
    select job_id, log_blocks, sum(log_blocks) over (order by finished_at, job_id) - log_blocks as freed_before from oldest
  ) o where freed_before < $2
), texts as (
  delete from runner_job_logs l using chosen c where l.job_id = c.job_id
), jobs as (
  update runner_jobs j set log_blocks = 0, log_size = 0, is_log_deleted = true from chosen c where j.job_id = c.job_id
), freed as (
  select coalesce(sum(log_blocks), 0) as blocks from chosen
)
update runner_log_usage u set blocks = u.blocks - f.blocks from freed f where u.team_id = $1 returning f.blocks::float8 as freed`,
});

/** $1 = team id, $2 = blocks. Gives blocks back. */
export const giveBackStatement = defineStatement({
  name: 'give_back_runner_log_blocks',
  text: 'update runner_log_usage set blocks = blocks - $2 where team_id = $1',
});
