import { defineStatement } from '../../../db/statement.js';

/** $1 = team id. The files and uploads of a team expire now. */
export const expireFilesStatement = defineStatement({
  name: 'expire_bulk_files',
  text: /* sql */ `
    with uploads as (update bulk_uploads set expires_at = now() where team_id = $1 and expires_at > now())
    update bulk_jobs set expires_at = now() where team_id = $1 and object_key is not null and expires_at > now()`,
});

/**
 * $1 = row limit. Takes the objects of expired files and uploads from their rows, for their removal. An object that a job still needs stays.
 */
export const takeExpiredStatement = defineStatement({
  name: 'take_expired_bulk_objects',
  text: /* sql */ `
    with due as (
      select j.job_id, j.object_key from bulk_jobs j
      where j.object_key is not null and j.expires_at <= now() and j.finished_at is not null and not j.is_dispatched
      order by j.expires_at limit $1 for update skip locked
    ), cleared as (
      update bulk_jobs j set object_key = null from due where j.job_id = due.job_id
    ), uploads as (
      delete from bulk_uploads u using (
        select e.file_id from bulk_uploads e where e.expires_at <= now() order by e.expires_at limit $1 for update skip locked
      ) e where u.file_id = e.file_id returning u.object_key
    )
    select object_key from due union all select object_key from uploads`,
});

/** Jobs that ended $1 days ago and whose file is gone. */
const OLD = `j.finished_at < now() - make_interval(days => $1) and j.object_key is null and not j.is_dispatched`;

/** $1 = days, $2 = row limit. Deletes what jobs that ended long ago have written of their lines: up to millions of rows a job. */
export const deleteOldRowsStatement = defineStatement({
  name: 'delete_old_bulk_rows',
  text: /* sql */ `
    with old as (
      select r.job_id, r.line, r.part from bulk_jobs j cross join lateral (
        select r.job_id, r.line, r.part from bulk_rows r where r.job_id = j.job_id limit $2
      ) r where ${OLD} limit $2
    )
    delete from bulk_rows r using old where r.job_id = old.job_id and r.line = old.line and r.part = old.part returning r.job_id`,
});

/** $1 = days, $2 = row limit. Deletes jobs that ended long ago and have no rows any more, with their chunks. */
export const deleteOldJobsStatement = defineStatement({
  name: 'delete_old_bulk_jobs',
  text: /* sql */ `
    delete from bulk_jobs j using (
      select j.job_id from bulk_jobs j where ${OLD} and not exists (select from bulk_rows r where r.job_id = j.job_id)
      order by j.finished_at limit $2 for update skip locked
    ) e where j.job_id = e.job_id returning j.job_id`,
});
