import { defineStatement } from '../../../../db/statement.js';

/** $1 = leased outbox rows. What operators see of each job; one without a job wakes the workflow of a deleted one. */
export const jobDispatchesStatement = defineStatement({
  name: 'runner_job_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, o.payload->>'job_id' as job_id, o.team_id, j.job_id is not null and j.finished_at is null as is_open,
      j.created_by, j.run_id
    from outbox o left join runner_jobs j on j.job_id = (o.payload->>'job_id')::uuid where o.outbox_id = any($1::bigint[])`,
});
