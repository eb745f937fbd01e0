import { BulkJob } from '../../../db/models/bulk-job.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { MAX_OPEN_JOBS } from '../rules.js';
import type { BulkJobRef } from '../schema.js';
import { dispatchNext, lockSlot } from './slot.js';
import { recordJobChange } from './record-job-change.js';

type NewJob = Pick<BulkJob, 'team_id' | 'kind' | 'format' | 'options'> &
  Partial<Pick<BulkJob, 'object_key' | 'size' | 'sha256' | 'expires_at' | 'total'>>;

/**
 * Creates a job, and starts it if no other job of the team runs. `check` runs with the team's slot locked.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT 20 jobs of the team have not ended; what
 * `check` throws
 */
export function createBulkJob(
  ctx: Context,
  job: NewJob,
  details: Record<string, unknown>,
  check?: (ctx: Context) => Promise<void>,
): Promise<BulkJobRef> {
  return inTransaction(ctx, async (ctx) => {
    const { team_id, kind } = job;
    authorize('bulk.run', await seatInTeam(ctx, team_id));
    await lockSlot(ctx, team_id);
    const open = await BulkJob.query(ctx.db).where({ team_id }).whereIn('status', ['queued', 'running']).resultSize();
    if (open >= MAX_OPEN_JOBS) throw conflict(`The team has ${MAX_OPEN_JOBS} jobs that have not ended; wait, or cancel one`);
    await check?.(ctx);
    const job_id = newId();
    await BulkJob.query(ctx.db).insert({
      ...job,
      job_id,
      requested_by: requireUser(ctx),
      correlation_id: ctx.correlationId,
    });
    await dispatchNext(ctx, team_id);
    const summary = kind === 'export' ? 'requested an export' : 'requested an import';
    await recordJobChange(ctx, { job_id, team_id }, kind, { severity: 'HIGH', summary, details });
    return { job_id, kind, status: 'queued' };
  });
}
