import type { RunnerJobStatus } from '../../../../db/models/runner-job.js';
import { run } from '../../../../db/statement.js';
import { type Context, type Services, serviceContext } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { END_REASONS, type EndReason, type EndStatus } from './rules.js';
import { endJobStatement, jobRecordStatement } from './job.sql.js';
import type { JobRecord } from './job-schema.js';

/** How a job ended. `reason`: otherwise than by its command. Texts are masked. */
export interface JobEnd {
  status: EndStatus;
  exitCode?: number | null;
  output?: string | null;
  reason?: EndReason;
}

interface EndedJob extends Record<string, unknown> {
  status_before: RunnerJobStatus;
  team_id: string;
  created_by: string;
  cause_user_ids: string[];
  depth: number;
  correlation_id: string;
}

/** Returns the record of a job as it is stored now. @throws RESOURCE_NOT_FOUND */
export async function readJobRecord({ db }: Pick<Context, 'db'>, jobId: string): Promise<JobRecord> {
  const [found] = await run<{ job: JobRecord }>(db, jobRecordStatement, [jobId]);
  if (!found) throw notFound('Job');
  return found.job;
}

/** The user who queued a job, and the people behind it, caused what follows from its end. */
const listCauses = ({ created_by, cause_user_ids }: EndedJob): string[] => [...new Set([created_by, ...cause_user_ids])];

/**
 * Ends an open job in the caller's transaction, with its audit entry, activity line and event, and wakes the run that waits for it. The
 * first end wins. Returns false if the job had ended.
 */
export async function endRunnerJob(ctx: Context, jobId: string, { status, exitCode, output, reason }: JobEnd): Promise<boolean> {
  const error = reason === undefined ? null : END_REASONS[reason];
  const [ended] = await run<EndedJob>(ctx.db, endJobStatement, [
    jobId,
    status,
    exitCode ?? null,
    output ?? null,
    reason ?? null,
    error,
  ]);
  if (!ended) return false;
  const job = await readJobRecord(ctx, jobId);
  const by: Context =
    ctx.actor.type === 'system'
      ? { ...ctx, actor: { ...ctx.actor, causeUserIds: listCauses(ended) }, correlationId: ended.correlation_id }
      : ctx;
  await recordChange(by, {
    team_id: ended.team_id,
    feature: 'runners',
    action: 'complete',
    severity: 'MEDIUM',
    outcome: status === 'succeeded' || status === 'cancelled' ? 'success' : 'failure',
    entity_type: 'runner_job',
    entity_id: jobId,
    title: 'Runner job',
    summary: `ended a runner job: ${status.replace('_', ' ')}`,
    details: { status, runner_id: job.runner_id, run_id: job.run_id, exit_code: job.exit_code, ...(reason && { reason }) },
    depth: ended.depth,
    event: { type: 'runner.job_finished', payload: { job, changes: { status: { from: ended.status_before, to: status } } } },
  });
  return true;
}

/** Returns the context in which the service itself ends jobs. */
export const jobsContext = (services: Services, cause?: string): Context => serviceContext(services, 'runners', cause);
