import { fn } from 'objection';
import { RunnerJob } from '../../../../db/models/runner-job.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { endRunnerJob, readJobRecord } from '../record/end-job.js';
import type { JobRecord } from '../record/job-schema.js';
import { isOpen } from '../record/rules.js';
import { readJob } from './read-job.js';

async function requestStop(ctx: Context, { job_id, team_id, runner_id }: RunnerJob): Promise<void> {
  await RunnerJob.query(ctx.db)
    .findById(job_id)
    .patch({ cancel_requested_at: fn.now() as never });
  await recordChange(ctx, {
    team_id,
    feature: 'runners',
    action: 'update',
    severity: 'MEDIUM',
    entity_type: 'runner_job',
    entity_id: job_id,
    title: 'Runner job',
    summary: 'cancelled a runner job',
    details: { cancel_requested: true, runner_id },
  });
}

/**
 * Cancels a job. One that waits ends at once; otherwise its runner is told with its next report, and has a minute to stop the command.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has ended
 */
export function cancelRunnerJob(ctx: Context, jobId: string): Promise<JobRecord> {
  return inTransaction(ctx, async (ctx) => {
    // Locks the membership, so the role lasts until the commit.
    await readJob(ctx, 'runner_job.write', jobId);
    const job = await RunnerJob.query(ctx.db).findById(jobId).forUpdate();
    if (!job) throw notFound('Job');
    const { status, cancel_requested_at } = job;
    if (!isOpen(status)) throw conflict(`The job has ended: ${status.replace('_', ' ')}`, { extra: { job_status: status } });
    if (status === 'queued') await endRunnerJob(ctx, jobId, { status: 'cancelled', reason: 'cancelled' });
    else if (cancel_requested_at === null) await requestStop(ctx, job);
    return readJobRecord(ctx, jobId);
  });
}
