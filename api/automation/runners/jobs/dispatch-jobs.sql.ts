import { defineStatement } from '../../../../db/statement.js';

/** $1 = leased outbox rows. What operators see of each job; one without a job wakes the workflow of a deleted one. */
export const jobDispatchesStatement = defineStatement({
  name: 'runner_job_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, o.payload->>'job_id' as job_id, o.team_id, j.job_id is not null and j.finished_at is null as is_open,
      j.created_by, j.run_id
    from outbox o left join runner_jobs j on j.job_id = (o.payload->>'job_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/** $1 = job id after which to continue, $2 = row limit. Open jobs that no outbox row is about. */
export const openJobsStatement = defineStatement({
  name: 'open_runner_jobs',
  text: /* sql */ `
    select j.job_id from runner_jobs j
    where j.finished_at is null and j.job_id > $1
      and not exists (select from outbox o where o.kind = 'runner.job' and o.subject = j.job_id::text)
    order by j.job_id limit $2`,
});

/** $1 = job ids. Enqueues their workflows again. */
export const restartJobsStatement = defineStatement({
  name: 'restart_runner_jobs',
  text: /* sql */ `
    insert into outbox (kind, subject, team_id, payload, correlation_id)
    select 'runner.job', j.job_id::text, j.team_id, jsonb_build_object('job_id', j.job_id), j.correlation_id
    from runner_jobs j where j.job_id = any($1::uuid[]) and j.finished_at is null returning outbox_id`,
});
