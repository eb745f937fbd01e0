import type { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import type { FinalStatus } from '../rules.js';
import { endJobStatement } from './end-job.sql.js';
import { dispatchNext, lockSlot } from './slot.js';
import { notifyAssignees } from './notify-assignees.js';
import { recordJobChange } from './record-job-change.js';

/** What is known of a job at its end. */
export type Ending = Partial<
  Pick<BulkJob, 'error_code' | 'object_key' | 'size' | 'sha256' | 'expires_at' | 'processed' | 'total'>
>;

interface EndedJob extends Record<string, unknown> {
  job_id: string;
  team_id: string;
  kind: 'export' | 'import';
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
}

const ACTION = { succeeded: 'complete', failed: 'complete', cancelled: 'cancel' } as const;

/**
 * Ends an open job, frees the team's slot for the next one, and records it, in one transaction or in the open one. `attempt`: only as this
 * attempt; null ends it whatever runs. A job succeeds only while its requester is still a manager.
 * @returns false if it has ended, another attempt has it, or the requester has lost the role
 */
export function endBulkJob(
  ctx: Context,
  { job_id, team_id }: Pick<BulkJob, 'job_id' | 'team_id'>,
  attempt: number | null,
  status: FinalStatus,
  ending: Ending = {},
): Promise<boolean> {
  return inTransaction(ctx, async (ctx) => {
    await lockSlot(ctx, team_id);
    const roles = status === 'succeeded' ? rolesFor('bulk.run') : null;
    const values = [job_id, attempt, status, JSON.stringify(ending), roles];
    const [ended] = await run<EndedJob>(ctx.db, endJobStatement, values);
    if (!ended) return false;
    await dispatchNext(ctx, team_id);
    if (ended.kind === 'import') await notifyAssignees(ctx, job_id);
    const { kind, processed, created, updated, skipped, failed } = ended;
    const counts = kind === 'export' ? { rows: processed } : { processed, created, updated, skipped, failed };
    const { error_code = null } = ending;
    await recordJobChange(ctx, ended, ACTION[status], {
      severity: 'MEDIUM',
      details: { kind, status, ...(error_code ? { error_code } : {}), ...counts },
      event: { type: 'bulk.job_finished', payload: { job: { job_id, team_id, kind, status, error_code, ...counts } } },
    });
    return true;
  });
}
