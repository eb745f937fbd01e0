import { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { type Ability, authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { MAX_ERRORS, MAX_LISTED_ERRORS } from '../rules.js';
import type { BulkJobRecord, BulkJobSummary, ListJobs } from '../schema.js';
import { errorsOfJobsStatement } from './errors-of-jobs.sql.js';
import { presentJob } from './present.js';

interface ErrorsRow extends Record<string, unknown> {
  job_id: string;
  errors: BulkJobRecord['errors'];
}

/** Adds to each job its first `max` failed lines. */
async function withErrors({ db }: Pick<Context, 'db'>, jobs: BulkJob[], max: number): Promise<BulkJobSummary[]> {
  const ids = jobs.filter(({ failed, status }) => failed > 0 || status === 'failed').map(({ job_id }) => job_id);
  const rows = ids.length === 0 ? [] : await run<ErrorsRow>(db, errorsOfJobsStatement, [ids, max]);
  const errorsByJob = new Map(rows.map(({ job_id, errors }) => [job_id, errors]));
  return jobs.map((job) => ({ ...presentJob(job), errors: errorsByJob.get(job.job_id) ?? [] }));
}

/**
 * Returns a job that the caller may see. Inside a transaction the caller's role lasts until the commit.
 * @throws RESOURCE_NOT_FOUND no such job, or of a deleted team | PERMISSION_DENIED below manager
 */
export async function findJob(ctx: Context, ability: Extract<Ability, `bulk.${string}`>, jobId: string): Promise<BulkJob> {
  const job = await BulkJob.query(ctx.db).findById(jobId);
  if (!job) throw notFound('Job');
  authorize(ability, await findSeat(ctx, job.team_id));
  return job;
}

/** Returns a job with its progress. @throws as `findJob` */
export async function getBulkJob(ctx: Context, jobId: string): Promise<BulkJobRecord> {
  const job = await findJob(ctx, 'bulk.read', jobId);
  const [summary] = await withErrors(ctx, [job], MAX_ERRORS);
  return { ...(summary as BulkJobSummary), notes: job.notes };
}

/** What a list reads of a job: neither notes nor what only the worker needs. */
const LISTED = [
  'job_id',
  'kind',
  'status',
  'team_id',
  'format',
  'requested_by',
  'total',
  'processed',
  'created',
  'updated',
  'skipped',
  'failed',
  'noted',
  'error_code',
  'undo_id',
  'undo_status',
  'undone',
  'expires_at',
  'created_at',
  'started_at',
  'finished_at',
] as const satisfies (keyof BulkJob)[];

/** Lists the jobs of a team, newest first, each with its first errors. @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager */
export async function listBulkJobs(ctx: Context, { team_id, limit, offset }: ListJobs): Promise<BulkJobSummary[]> {
  authorize('bulk.read', await seatInTeam(ctx, team_id));
  const jobs = await BulkJob.query(ctx.db)
    .select(...LISTED)
    .where({ team_id })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'job_id', order: 'desc' },
    ])
    .limit(limit)
    .offset(offset);
  return withErrors(ctx, jobs, MAX_LISTED_ERRORS);
}
