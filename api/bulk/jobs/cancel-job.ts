import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import type { BulkJobRecord } from '../schema.js';
import { endBulkJob } from './end-job.js';
import { findJob, getBulkJob } from './read-jobs.js';

/**
 * Cancels a job that waits or runs. A running one stops within seconds; records that an import has written stay.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has ended
 */
export function cancelBulkJob(ctx: Context, jobId: string): Promise<BulkJobRecord> {
  return inTransaction(ctx, async (ctx) => {
    const job = await findJob(ctx, 'bulk.run', jobId);
    if (!(await endBulkJob(ctx, job, null, 'cancelled'))) throw conflict('The job has already ended');
    return getBulkJob(ctx, jobId);
  });
}
