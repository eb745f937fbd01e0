import { defineStatement } from '../../../db/statement.js';

/** $1 = team id. Serializes whatever gives, takes or frees the slot of a team; locked after the caller's membership and before any job. */
export const lockSlotStatement = defineStatement({
  name: 'lock_bulk_slot',
  text: "select pg_advisory_xact_lock(hashtextextended('bulk jobs of ' || $1::text, 0))",
});

/**
 * $1 = team id. Gives the slot of a team, if it is free, to the job or undo that has waited longest, and enqueues its workflow. Run it with
 * the slot locked, and after the statement that changed the jobs.
 */
export const dispatchNextStatement = defineStatement({
  name: 'dispatch_next_bulk_job',
  text: /* sql */ `
    with next as (
      select j.job_id from bulk_jobs j
      where j.team_id = $1::uuid and j.waiting_since is not null
        and not exists (select from bulk_jobs o where o.team_id = $1::uuid and o.is_dispatched)
      order by j.waiting_since, j.job_id limit 1
    ), placed as (
      update bulk_jobs j set is_dispatched = true, waiting_since = null from next where j.job_id = next.job_id
      returning j.job_id, j.team_id, j.correlation_id, j.undo_status
    )
    insert into outbox (kind, subject, team_id, payload, correlation_id)
    select case when p.undo_status is null then 'bulk.start' else 'bulk.undo' end, p.job_id::text, p.team_id,
      jsonb_build_object('job_id', p.job_id), p.correlation_id
    from placed p returning subject as job_id`,
});
