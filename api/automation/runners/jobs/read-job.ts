import { RunnerJob } from '../../../../db/models/runner-job.js';
import { type Ability, authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';

/**
 * Returns a job that the caller may read or change. Locks no job: a stranger makes nobody wait.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED
 */
export async function readJob(
  ctx: Context,
  ability: Extract<Ability, 'runner.read' | 'runner_job.write'>,
  jobId: string,
): Promise<RunnerJob> {
  const job = await RunnerJob.query(ctx.db).findById(jobId);
  if (!job) throw notFound('Job');
  authorize(ability, await findSeat(ctx, job.team_id));
  return job;
}
