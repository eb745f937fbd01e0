import type { RunnerJob } from '../../../../db/models/runner-job.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { storable } from '../../../platform/fields.js';
import { flushLog } from '../logs/append-log.js';
import { maskText } from '../logs/mask.js';
import { maskedValues } from '../logs/masked-values.js';
import { endRunnerJob, type JobEnd } from '../record/end-job.js';
import type { CompletedJob, CompleteJob } from '../schema.js';
import { lockReportedJob, settleBeforeReport } from './held-job.js';
import { SHALL_STOP } from './heartbeat.js';

/** $1 = job id. */
const shallStopStatement = defineStatement({
  name: 'shall_runner_job_stop',
  text: `select ${SHALL_STOP} as shall_stop from runner_jobs where job_id = $1`,
});

/** Ends that a runner reports, so that its repeated report gets the same answer. */
const REPORTED = ['succeeded', 'failed', 'cancelled', 'timed_out'] as const;
type ReportedStatus = (typeof REPORTED)[number];

/** Returns how a job ends by a report. A command that was stopped has failed. */
async function computeEnd(
  ctx: Context,
  job: RunnerJob,
  { status, exit_code }: CompleteJob,
  output: string | null,
): Promise<JobEnd & { status: ReportedStatus }> {
  const end = { exitCode: exit_code ?? null, output };
  if (status === 'succeeded') return { ...end, status };
  const [row] = await run<{ shall_stop: boolean }>(ctx.db, shallStopStatement, [job.job_id]);
  if (!row?.shall_stop) return { ...end, status };
  return job.cancel_requested_at
    ? { ...end, status: 'cancelled', reason: 'cancelled' }
    : { ...end, status: 'timed_out', reason: 'timed_out' };
}

/** Returns the answer to a repeated report of a job that has ended as this one says; undefined if it has not. */
function answerAgain({ job_id, status: ended, error_code }: RunnerJob, { status }: CompleteJob): CompletedJob | undefined {
  const answer = REPORTED.find((each) => each === ended);
  if (answer === undefined || error_code === 'not_stopped') return undefined;
  return (status === 'succeeded') === (answer === 'succeeded') ? { job_id, status: answer } : undefined;
}

/**
 * Ends a job as its runner reports. `output` is masked. A repeated report gets the same answer.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team | RESOURCE_CONFLICT the runner does not hold it: `job_status` if it did
 */
export async function completeJob(
  ctx: Context,
  jobId: string,
  { runner, token }: { runner: RunnerIdentity; token: string },
  report: CompleteJob,
): Promise<CompletedJob> {
  await settleBeforeReport(ctx, jobId, runner);
  return inTransaction(ctx, async (ctx): Promise<CompletedJob> => {
    const { job, refused } = await lockReportedJob(ctx, jobId, runner);
    if (refused) {
      const answer = job.runner_id === runner.runner_id ? answerAgain(job, report) : undefined;
      if (answer) return answer;
      throw refused;
    }
    const values = maskedValues(job, token);
    const output = report.output ? maskText(values, storable(report.output)) : null;
    await flushLog(ctx, job, token);
    const end = await computeEnd(ctx, job, report, output);
    await endRunnerJob(ctx, jobId, end);
    return { job_id: jobId, status: end.status };
  });
}
