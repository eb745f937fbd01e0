import { defineStatement, run } from '../../../../db/statement.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import type { Heartbeat } from '../schema.js';
import { lockHeldJob, settleBeforeReport } from './held-job.js';

/** SQL: whether the command has to stop: the job was canceled, or its deadline has passed. */
export const SHALL_STOP =
  'cancel_requested_at is not null or claimed_at + make_interval(mins => timeout_minutes) <= clock_timestamp()';

/** $1 = job id, $2 = runner id, $3 = lease in seconds, $4 = seconds to stop. No row: the runner does not hold it, or a clock of it is over. */
const statement = defineStatement({
  name: 'runner_heartbeat',
  text: /* sql */ `
    update runner_jobs set status = 'running', lease_until = clock_timestamp() + make_interval(secs => $3)
    where job_id = $1 and runner_id = $2 and status in ('claimed', 'running') and lease_until > clock_timestamp()
      and claimed_at + make_interval(mins => timeout_minutes, secs => $4) > clock_timestamp()
      and (cancel_requested_at is null or cancel_requested_at + make_interval(secs => $4) > clock_timestamp())
    returning ${SHALL_STOP} as cancel, lease_until`,
});

/**
 * Renews the lease of a job that the runner holds; the first heartbeat says that the command runs.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team | RESOURCE_CONFLICT the runner does not hold it: `job_status` if it did
 */
export async function heartbeat(ctx: Context, jobId: string, runner: RunnerIdentity): Promise<Heartbeat> {
  const { RUNNER_LEASE_SECONDS, RUNNER_CANCEL_SECONDS } = ctx.config;
  const values = [jobId, runner.runner_id, RUNNER_LEASE_SECONDS, RUNNER_CANCEL_SECONDS];
  const [held] = await run<{ cancel: boolean; lease_until: Date }>(ctx.db, statement, values);
  if (held) return { job_id: jobId, status: 'running', cancel: held.cancel, lease_expires_at: held.lease_until.toISOString() };
  await settleBeforeReport(ctx, jobId, runner);
  await inTransaction(ctx, (ctx) => lockHeldJob(ctx, jobId, runner));
  throw conflict('The job changed at the same time; report again');
}
