import { RunnerJob } from '../../../../db/models/runner-job.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import type { Context } from '../../../platform/context.js';
import { conflict, notFound, type DomainError } from '../../../platform/errors.js';
import { isHeld } from '../record/rules.js';
import { settleJob } from './settle-job.js';

/** The refusal of a report about a job that the runner does not hold. `job_status` only for the runner that held it. */
function refusal(job: RunnerJob, { runner_id }: RunnerIdentity): DomainError {
  if (job.runner_id !== runner_id) return conflict('This runner does not hold the job');
  return conflict(`The job has ended: ${job.status.replace('_', ' ')}`, { extra: { job_status: job.status } });
}

/**
 * Locks a job in the caller's transaction, and returns how a report of the runner is refused, if it is.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team
 */
export async function lockReportedJob(
  ctx: Context,
  jobId: string,
  runner: RunnerIdentity,
): Promise<{ job: RunnerJob; refused: DomainError | undefined }> {
  const job = await RunnerJob.query(ctx.db).findById(jobId).forUpdate();
  if (job?.team_id !== runner.team_id) throw notFound('Job');
  return { job, refused: isHeld(job.status) && job.runner_id === runner.runner_id ? undefined : refusal(job, runner) };
}

/**
 * Locks a job that the runner holds, in the caller's transaction.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team | RESOURCE_CONFLICT the runner does not hold it: `job_status` if it did
 */
export async function lockHeldJob(ctx: Context, jobId: string, runner: RunnerIdentity): Promise<RunnerJob> {
  const { job, refused } = await lockReportedJob(ctx, jobId, runner);
  if (refused) throw refused;
  return job;
}

/** Ends a job past its deadline before a report is read: a late report revives nothing. */
export async function settleBeforeReport(ctx: Context, jobId: string, runner: RunnerIdentity): Promise<void> {
  const job = await RunnerJob.query(ctx.db).findById(jobId).select('team_id', 'status', 'runner_id');
  if (job?.team_id !== runner.team_id) throw notFound('Job');
  if (job.runner_id === runner.runner_id && isHeld(job.status)) await settleJob(ctx, jobId);
}
