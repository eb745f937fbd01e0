import { defineStatement } from '../../../../db/statement.js';

/** $1 = runner ids. For each the job that it holds, and whether one waits that it could take. Locks nothing. */
export const peekStatement = defineStatement({
  name: 'peek_runner_jobs',
  text: /* sql */ `
    select r.runner_id, r.version, held.job_id, held.status, held.lease_until <= clock_timestamp() as is_over,
      exists (select from runner_jobs j where j.team_id = r.team_id and j.status = 'queued' and j.labels <@ r.labels) as has_job
    from runners r left join runner_jobs held on held.runner_id = r.runner_id and held.status in ('claimed', 'running')
    where r.runner_id = any((select $1::uuid[])::uuid[])`,
});

/** $1 = runner id, $2 = version. The program of a runner was replaced. */
export const setVersionStatement = defineStatement({
  name: 'set_runner_version',
  text: 'update runners set version = $2 where runner_id = $1',
});

/**
 * $1 = runner id, $2 = lease in seconds. Gives the runner the oldest job of its team of which it has all labels, unless
 * others are about to take it. No row: none. A runner that holds a job violates `runner_jobs_held`.
 */
export const claimStatement = defineStatement({
  name: 'claim_runner_job',
  text: /* sql */ `
with me as materialized (
  -- Labels never change. A deletion of the runner waits for the claim, or there is no runner any more.
  select runner_id, team_id, name, labels from runners where runner_id = $1 for key share
), oldest as materialized (
  select j.job_id from me cross join lateral (
    select job_id from runner_jobs j where j.team_id = me.team_id and j.status = 'queued' and j.labels <@ me.labels
    order by j.queued_at, j.job_id limit 1 for update skip locked
  ) j
), seen as (
  update runners r set last_seen_at = now() from oldest where r.runner_id = $1
)
update runner_jobs j set status = 'claimed', runner_id = me.runner_id, runner_name = me.name, claimed_at = clock_timestamp(),
  lease_until = clock_timestamp() + make_interval(secs => $2)
from me, oldest where j.job_id = oldest.job_id
returning j.job_id, j.team_id, j.command, j.env, j.labels, j.timeout_minutes, j.correlation_id, j.run_id`,
});

/**
 * $1 = job id, $2 = roles that may queue jobs, $3 = roles that may allow secrets. What may have changed since the job was queued.
 */
export const standingStatement = defineStatement({
  name: 'runner_job_standing',
  text: /* sql */ `
    select
      exists (select from memberships m join users u using (user_id)
        where m.team_id = j.team_id and m.user_id = j.created_by and m.role = any($2::text[]) and u.status = 'active') as is_creator_allowed,
      not exists (select from unnest(j.secret_user_ids) a(user_id) where not exists (
        select from memberships m join users u on u.user_id = m.user_id
        where m.team_id = j.team_id and m.user_id = a.user_id and m.role = any($3::text[]) and u.status = 'active')) as are_secrets_allowed,
      j.run_id is null or exists (select from automation_runs r where r.run_id = j.run_id and r.finished_at is null) as is_run_open
    from runner_jobs j where j.job_id = $1`,
});

/** $1 = job id, $2 = runner id, $3 = encrypted values. Keeps what the job's log must not show. No row: the job has ended. */
export const keepMasksStatement = defineStatement({
  name: 'keep_runner_job_masks',
  text: /* sql */ `
    update runner_jobs set masked_values = $3
    where job_id = $1 and runner_id = $2 and status in ('claimed', 'running') returning job_id`,
});

/** $1 = job id. Undoes a claim in its own transaction, before the job ends otherwise. */
export const releaseStatement = defineStatement({
  name: 'release_runner_job',
  text: /* sql */ `
    update runner_jobs set status = 'queued', runner_id = null, runner_name = null, claimed_at = null, lease_until = null where job_id = $1`,
});
