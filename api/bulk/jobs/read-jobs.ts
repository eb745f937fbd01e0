import { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { type Ability, authorize } from '../../core/access.js';
import type { Context } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { seatInTeam, seatOf } from '../../core/seats.js';
import { MAX_ERRORS } from '../rules.js';
import type { BulkJobRecord, BulkJobSummary, ListJobs } from '../schema.js';
import { errorsOfJobStatement } from './errors-of-job.sql.js';
import { presentJob } from './present.js';

interface ErrorRow extends Record<string, unknown> {
  line: number;
  entity: string | null;
  message: string | null;
}

async function errorsOf({ db }: Pick<Context, 'db'>, { job_id, failed, status }: BulkJob): Promise<BulkJobRecord['errors']> {
  const rows = failed > 0 || status === 'failed' ? await run<ErrorRow>(db, errorsOfJobStatement, [job_id, MAX_ERRORS]) : [];
  return rows.map(({ line, entity, message }) => ({ line, entity, message: message ?? '' }));
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
  const job = await findJob(ctx, 'bulk.read', jobId);
  return { ...presentJob(job), errors: await errorsOf(ctx, job), notes: job.notes };
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

/** Lists the jobs of a team, newest first, with counts only. @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager */
export async function listJobs(ctx: Context, { team_id, limit, offset }: ListJobs): Promise<BulkJobSummary[]> {
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
  return jobs.map(presentJob);
}
