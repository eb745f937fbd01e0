import { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { type Ability, authorize } from '../../core/access.js';
import type { Context } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { seatInTeam, seatOf } from '../../core/seats.js';
import { MAX_ERRORS } from '../rules.js';
import type { BulkJobRecord, ListJobs } from '../schema.js';
import { errorsOfJobsStatement } from './errors-of-jobs.sql.js';
import { presentJob } from './present.js';

interface ErrorRow extends Record<string, unknown> {
  job_id: string;
  line: number;
  entity: string | null;
  message: string | null;
}

async function presentJobs({ db }: Pick<Context, 'db'>, jobs: BulkJob[]): Promise<BulkJobRecord[]> {
  const ids = jobs.filter(({ failed, status }) => failed > 0 || status === 'failed').map(({ job_id }) => job_id);
  const rows = ids.length === 0 ? [] : await run<ErrorRow>(db, errorsOfJobsStatement, [ids, MAX_ERRORS]);
  return jobs.map((job) => {
    const own = rows.filter(({ job_id }) => job_id === job.job_id);
    return presentJob(
      job,
      own.map(({ line, entity, message }) => ({ line, entity, message: message ?? '' })),
    );
  });
}

/**
 * Returns a job that the caller may see. Inside a transaction the caller's role lasts until the commit.
 * @throws RESOURCE_NOT_FOUND no such job, or of a deleted team | PERMISSION_DENIED below manager
 */
export async function findJob(ctx: Context, ability: Extract<Ability, `bulk.${string}`>, jobId: string): Promise<BulkJob> {
  const job = await BulkJob.query(ctx.db).findById(jobId);
  if (!job) throw notFound('Job');
  authorize(ability, await seatOf(ctx, job.team_id));
  return job;
}

/** Returns a job with its progress. @throws as `findJob` */
export async function getJob(ctx: Context, jobId: string): Promise<BulkJobRecord> {
  const [record] = await presentJobs(ctx, [await findJob(ctx, 'bulk.read', jobId)]);
  return record as BulkJobRecord;
}

/** Lists the jobs of a team, newest first. @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager */
export async function listJobs(ctx: Context, { team_id, limit, offset }: ListJobs): Promise<BulkJobRecord[]> {
  authorize('bulk.read', await seatInTeam(ctx, team_id));
  const jobs = await BulkJob.query(ctx.db)
    .where({ team_id })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'job_id', order: 'desc' },
    ])
    .limit(limit)
    .offset(offset);
  return presentJobs(ctx, jobs);
}
