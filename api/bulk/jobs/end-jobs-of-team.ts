import { BulkJob } from '../../../db/models/bulk-job.js';
import type { Context } from '../../platform/context.js';
import { endBulkJob } from './end-job.js';
import { expireFilesStatement } from './expiry.sql.js';
import { run } from '../../../db/statement.js';

/**
 * Cancels the jobs of a team and lets its files expire, in the transaction that deletes the team, after its memberships: nobody can add a
 * job from then on. Returns the number of jobs that had not ended.
 */
export async function endJobsOfTeam(ctx: Context, teamId: string): Promise<number> {
  const open = await BulkJob.query(ctx.db).where({ team_id: teamId }).whereIn('status', ['queued', 'running']).orderBy('job_id');
  let ended = 0;
  // Those that wait come first, so that none of them is started by the end of another.
  for (const job of open.toSorted((a, b) => Number(a.is_dispatched) - Number(b.is_dispatched))) {
    if (await endBulkJob(ctx, job, null, 'cancelled')) ended += 1;
  }
  await run(ctx.db, expireFilesStatement, [teamId]);
  return ended;
}
