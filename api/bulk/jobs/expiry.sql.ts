import type { Statement } from '../../../db/statement.js';

/** $1 = team id. The files and uploads of a team expire now. */
export const expireFilesStatement: Statement = {
  name: 'expire_bulk_files',
  text: /* sql */ `
    with uploads as (update bulk_uploads set expires_at = now() where team_id = $1 and expires_at > now())
    update bulk_jobs set expires_at = now() where team_id = $1 and object_key is not null and expires_at > now()`,
};

/**
 * $1 = row limit. Takes the objects of expired files and uploads from their rows, for their removal. An object that a job still needs stays.
 */
export const takeExpiredStatement: Statement = {
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
};

/** $1 = days, $2 = row limit. Deletes jobs that ended long ago, with their rows. */
export const deleteOldJobsStatement: Statement = {
  name: 'delete_old_bulk_jobs',
  text: /* sql */ `
    delete from bulk_jobs j using (
      select e.job_id from bulk_jobs e
      where e.finished_at < now() - make_interval(days => $1) and e.object_key is null and not e.is_dispatched
      order by e.finished_at limit $2 for update skip locked
    ) e where j.job_id = e.job_id returning j.job_id`,
};
