import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import type { BulkJobRecord } from '../schema.js';
import { endJob } from './end-job.js';
import { findJob, getJob } from './read-jobs.js';

/**
 * Cancels a job that waits or runs. A running one stops within seconds; records that an import has written stay.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has ended
 */
export function cancelJob(ctx: Context, jobId: string): Promise<BulkJobRecord> {
  return inTransaction(ctx, async (ctx) => {
    const job = await findJob(ctx, 'bulk.run', jobId);
    if (!(await endJob(ctx, job, null, 'cancelled'))) throw conflict('The job has already ended');
    return getJob(ctx, jobId);
  });
}
