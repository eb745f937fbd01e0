import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = job id, $2 = key of the object that this attempt writes, or null. Claims a job for a new attempt. Returns the job as it is now, and the
 * object of the attempt before.
 */
export const claimJobStatement = defineStatement({
  name: 'claim_bulk_job',
  text: /* sql */ `
    with before as (
      select j.job_id, j.pending_key from bulk_jobs j
      where j.job_id = $1 and j.is_dispatched and j.status in ('queued', 'running') for update
    )
    update bulk_jobs j set status = 'running', attempt = j.attempt + 1, started_at = coalesce(j.started_at, now()), pending_key = $2
    from before b, users u where j.job_id = b.job_id and u.user_id = j.requested_by
    returning j.job_id, j.team_id, j.kind, j.format, j.options, j.attempt, j.correlation_id, j.requested_by, u.email, u.role,
      b.pending_key as left_key`,
});

/**
 * $1 = job id, $2 = attempt, $3 = rows so far, $4 = rows in all, $5 = roles that the requester needs. `is_permitted` tells whether the requester
 * still has one and is not suspended; no row: the job was cancelled, or another attempt has it.
 */
export const reportProgressStatement = defineStatement({
  name: 'report_bulk_progress',
  text: /* sql */ `
    update bulk_jobs j set processed = $3, total = coalesce($4, j.total)
    where j.job_id = $1 and j.attempt = $2 and j.status = 'running'
    returning exists (
      select from memberships m join users u using (user_id)
      where m.team_id = j.team_id and m.user_id = j.requested_by and m.role = any($5) and u.status = 'active'
    ) as is_permitted`,
});

/** $1 = job id. What the workflow of a job shows. */
export const viewJobStatement = defineStatement({
  name: 'view_bulk_job',
  text: 'select status, total, processed, attempt, error_code from bulk_jobs where job_id = $1',
});

/** $1 = leased outbox rows. What operators see of each job. */
export const bulkDispatchesStatement = defineStatement({
  name: 'bulk_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind = 'bulk.undo' as is_undo, j.correlation_id, j.job_id, j.team_id, j.kind, j.format,
      case when o.kind = 'bulk.undo' then coalesce(j.undo_requested_by, j.requested_by) else j.requested_by end as requested_by
    from outbox o join bulk_jobs j on j.job_id = (o.payload->>'job_id')::uuid
    where o.outbox_id = any($1::bigint[]) and j.is_dispatched`,
});

/** $1 = job id after which to continue, $2 = row limit. Jobs that have the slot of their team, whose workflow nothing is about to start. */
export const dispatchedJobsStatement = defineStatement({
  name: 'dispatched_bulk_jobs',
  text: /* sql */ `
    select j.job_id, j.undo_status is not null as is_undo from bulk_jobs j
    where j.is_dispatched and j.job_id > $1
      and not exists (select from outbox o where o.kind in ('bulk.start', 'bulk.undo') and o.subject = j.job_id::text)
    order by j.job_id limit $2`,
});

/** $1 = job ids. Enqueues their workflows again. */
export const restartJobsStatement = defineStatement({
  name: 'restart_bulk_jobs',
  text: /* sql */ `
    insert into outbox (kind, subject, team_id, payload, correlation_id)
    select case when j.undo_status is null then 'bulk.start' else 'bulk.undo' end, j.job_id::text, j.team_id,
      jsonb_build_object('job_id', j.job_id), j.correlation_id
    from bulk_jobs j where j.job_id = any($1::uuid[]) and j.is_dispatched returning outbox_id`,
});
