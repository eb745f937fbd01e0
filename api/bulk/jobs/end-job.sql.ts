import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = job id, $2 = attempt, or null for any, $3 = new status, $4 = changed columns (jsonb), $5 = roles that the requester needs, or null. Ends
 * an open job and frees the team's slot; the input of an import is needed no longer. No row: another attempt has it, it has ended, or the requester has lost the role or is suspended.
 */
export const endJobStatement = defineStatement({
  name: 'end_bulk_job',
  text: /* sql */ `
    update bulk_jobs j set status = $3, finished_at = now(), is_dispatched = false, waiting_since = null, pending_key = null,
      error_code = c.error_code,
      object_key = coalesce(c.object_key, j.object_key), size = coalesce(c.size, j.size), sha256 = coalesce(c.sha256, j.sha256),
      expires_at = case when j.kind = 'import' then least(j.expires_at, now()) else coalesce(c.expires_at, j.expires_at) end, processed = coalesce(c.processed, j.processed), total = coalesce(c.total, j.total)
    from jsonb_populate_record(null::bulk_jobs, $4::jsonb) c
    where j.job_id = $1 and j.status in ('queued', 'running') and ($2::integer is null or j.attempt = $2)
      and ($5::text[] is null or exists (
        select from memberships m join users u using (user_id)
        where m.team_id = j.team_id and m.user_id = j.requested_by and m.role = any($5) and u.status = 'active'
      ))
    returning j.job_id, j.team_id, j.kind, j.processed, j.created, j.updated, j.skipped, j.failed`,
});
