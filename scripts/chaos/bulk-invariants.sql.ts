import type { Invariant } from './invariant.js';

/** What must hold of exports and imports. */
export const bulkInvariants: readonly Invariant[] = [
  {
    name: 'jobs_take_turns',
    words: 'No team has a job that waits while none of its jobs runs',
    sql: /* sql */ `
      select format('job %s of team %s waits for nobody', w.job_id, w.team_id) as violation from bulk_jobs w
      where w.waiting_since is not null and not exists (select from bulk_jobs o where o.team_id = w.team_id and o.is_dispatched)`,
  },
  {
    name: 'jobs_end_once',
    words: 'A job that has ended has one audit entry of its end, and any other none',
    sql: /* sql */ `
      select format('job %s is %s with %s ends', j.job_id, j.status, n.ends) as violation
      from bulk_jobs j cross join lateral (
        select count(*) as ends from audit_entries a
        where a.entity_type = 'bulk_job' and a.entity_id = j.job_id::text and a.action in ('complete', 'cancel')
          -- The undo of an import ends by itself.
          and a.details::json->>'kind' is distinct from 'undo'
      ) n where n.ends <> (j.finished_at is not null)::int`,
  },
  {
    name: 'exports_are_whole',
    words: 'An export that has succeeded has a file with all its rows, until the file expires; no other export has one',
    sql: /* sql */ `
      select format('export %s is %s with %s of %s rows', j.job_id, j.status, j.processed, j.total) as violation from bulk_jobs j
      where j.kind = 'export' and case j.status
        when 'succeeded' then j.processed is distinct from j.total or j.sha256 is null or j.object_key is null and j.expires_at > now()
        else j.object_key is not null end`,
  },
];

/** Jobs and undos that run; only Temporal knows whether they have a workflow. */
export const UNCARRIED: Invariant = {
  name: 'jobs_carried',
  words: 'No job of bulk data has run for more than 60 s without an open workflow',
  sql: /* sql */ `
    select j.job_id::text as violation from bulk_jobs j
    where j.is_dispatched and j.undo_id is null and j.created_at < clock_timestamp() - interval '60 seconds'`,
};
