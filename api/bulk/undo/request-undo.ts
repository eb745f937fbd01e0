import { BulkJob } from '../../../db/models/bulk-job.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { dispatchNext, lockSlot } from '../jobs/slot.js';
import { findJob, getBulkJob } from '../jobs/read-jobs.js';
import { recordJobChange } from '../jobs/record-job-change.js';
import { withdrawImportNotices } from '../jobs/notify-assignees.js';
import { isEnded } from '../rules.js';
import type { BulkJobRecord } from '../schema.js';

/**
 * Requests that what an import has created goes to the trash, as one cascade. What it has updated stays as it is. Waits for other jobs of the team.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT an export, an import that has not ended, or a second undo
 */
export function requestUndo(ctx: Context, jobId: string): Promise<BulkJobRecord> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id } = await findJob(ctx, 'bulk.run', jobId);
    await lockSlot(ctx, team_id);
    const job = await BulkJob.query(ctx.db).findById(jobId).forUpdate();
    if (job?.kind !== 'import') throw conflict('An export cannot be undone: it changes nothing');
    if (!isEnded(job.status)) throw conflict('The import has not ended; cancel it first');
    if (job.undo_status !== null && job.undo_status !== 'failed') throw conflict('The import has been undone already');
    const undo_id = job.undo_id ?? newId();
    await BulkJob.query(ctx.db)
      .findById(jobId)
      .patch({ undo_id, undo_status: 'queued', undo_requested_by: requireUser(ctx), waiting_since: new Date() });
    await dispatchNext(ctx, team_id);
    await withdrawImportNotices(ctx, jobId, team_id);
    await recordJobChange(ctx, job, 'undo', {
      severity: 'HIGH',
      summary: 'undid an import',
      details: { undo_id, created: job.created },
    });
    return getBulkJob(ctx, jobId);
  });
}
