import type { RunnerJobStatus } from '../../../../db/models/runner-job.js';
import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { createRowLoader } from '../../../platform/database/batching/batch-loader.js';
import { conflict, DomainError, unauthenticated } from '../../../platform/errors.js';
import { settleJob } from '../jobs/settle-job.js';
import type { ClaimedJob } from '../schema.js';
import { peekStatement, setVersionStatement } from './claim.sql.js';
import { waitingRunners } from './job-listener.js';
import { type Asking, takeJob } from './take-job.js';

interface QueuedJob extends Record<string, unknown> {
  runner_id: string;
  version: string;
  job_id: string | null;
  status: RunnerJobStatus | null;
  is_over: boolean | null;
  has_job: boolean;
}

/** Runners that ask at the same moment share a look. */
const peekAt = createRowLoader(async (db, ids: string[]): Promise<(QueuedJob | undefined)[]> => {
  const rows = await run<QueuedJob>(db, peekStatement, [ids]);
  const byId = new Map(rows.map((row) => [row.runner_id, row]));
  return ids.map((id) => byId.get(id));
});

/** @throws AUTHENTICATION_REQUIRED the runner was deleted meanwhile */
async function peek({ db }: Context, { runner }: Asking): Promise<QueuedJob> {
  const peeked = await peekAt(db, runner.runner_id);
  if (!peeked) throw unauthenticated();
  return peeked;
}

/**
 * Waits end together, twice a second: their runners then poll, authenticate and poll once more in a few statements instead of in thousands.
 */
const GRID_MS = 500;

/** Returns the end of a wait by the clock of this process, ms. */
function computeDeadline(waitSeconds: number): number {
  const end = performance.now() + waitSeconds * 1_000;
  return waitSeconds < 1 ? end : Math.floor(end / GRID_MS) * GRID_MS;
}

const busy = ({ job_id, status }: QueuedJob): DomainError =>
  conflict('This runner holds a job that it has not completed', {
    detail: 'Complete it, or wait until its lease ends.',
    extra: { job_id, job_status: status },
  });

/** @throws RESOURCE_CONFLICT `job_id`, `job_status`: the runner holds a job under a live lease */
async function look(ctx: Context, asking: Asking): Promise<QueuedJob> {
  const peeked = await peek(ctx, asking);
  if (peeked.job_id === null) return peeked;
  if (!peeked.is_over) throw busy(peeked);
  await settleJob(ctx, peeked.job_id);
  return look(ctx, asking);
}

const isHeldAlready = (error: unknown): boolean => (error as { constraint?: unknown } | null)?.constraint === 'runner_jobs_held';

/** Takes a job. @throws RESOURCE_CONFLICT another request of the runner has taken one */
async function take(ctx: Context, asking: Asking): Promise<ClaimedJob | undefined> {
  try {
    return await takeJob(ctx, asking);
  } catch (error) {
    if (!isHeldAlready(error)) throw error;
    throw busy(await peek(ctx, asking));
  }
}

export interface ClaimRequest extends Asking {
  /** Version of the runner's program. */
  version: string | undefined;
  waitSeconds: number;
  /** Calls the listener when the client closes its connection; returns a function that stops listening. */
  onHangUp: (listener: () => void) => () => void;
}

/**
 * Gives a runner a job, as soon as there is one within the given time; undefined if there is none. No connection and no transaction is
 * open while it waits: one LISTEN of the process wakes as many runners as jobs are queued. A newer request of the same runner ends the wait.
 * @throws RESOURCE_CONFLICT `job_id`: the runner holds a job | RATE_LIMIT_EXCEEDED too many runners of the team wait
 */
export async function claimRunnerJob(
  ctx: Context,
  { waitSeconds, version, onHangUp, ...asking }: ClaimRequest,
): Promise<ClaimedJob | undefined> {
  const deadline = computeDeadline(waitSeconds);
  const runners = waitingRunners(ctx);
  if (runners.countOthers(asking.runner) >= ctx.config.RUNNERS_PER_TEAM) {
    throw new DomainError('RATE_LIMIT_EXCEEDED', 'Too many runners of the team wait for jobs', {
      headers: { 'Retry-After': '5' },
    });
  }
  const waiting = runners.enter(asking.runner, ctx.log);
  const stopListening = onHangUp(waiting.leave);
  let job: ClaimedJob | undefined;
  let hasFailed = true;
  try {
    const first = await look(ctx, asking);
    if (version !== undefined && version !== first.version) {
      await run(ctx.db, setVersionStatement, [asking.runner.runner_id, version]);
    }
    let mayTake = first.has_job;
    for (let isLast = waitSeconds === 0; ; ) {
      job = mayTake ? await take(ctx, asking) : undefined;
      if (job || isLast) break;
      const end = await waiting.next(deadline - performance.now());
      if (end !== 'woken' && end !== 'late') break;
      isLast = end === 'late';
      // At the end of an idle wait a look suffices.
      mayTake = end === 'woken' || (await look(ctx, asking)).has_job;
    }
    hasFailed = false;
    return job;
  } finally {
    stopListening();
    waiting.close({ taken: job?.job_id, hasFailed });
  }
}
