import { RunnerJob, type StoredEnv } from '../../../../db/models/runner-job.js';
import { Team } from '../../../../db/models/team.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';
import { readJobRecord } from './end-job.js';
import type { JobRecord } from './job-schema.js';

/** A job to be queued. `step`: the attempt of a run's step that waits for it. */
export interface NewJob {
  team_id: string;
  command: string;
  env: StoredEnv;
  labels: string[];
  timeout_minutes: number;
  secret_user_ids?: string[];
  step?: { run_id: string; index: number; attempt: number; depth: number; cause_user_ids: string[] };
}

/**
 * Queues a job in the caller's transaction. Runners that wait are notified at the commit.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT too many jobs have not ended
 */
export async function storeJob(ctx: Context, { step, ...job }: NewJob): Promise<JobRecord> {
  const { team_id } = job;
  // Creations in a team happen one after the other, so the limit holds; a deletion of the team waits for this lock.
  const team = await Team.query(ctx.db).findById(team_id).modify('live').forNoKeyUpdate();
  if (!team) throw notFound('Team');
  authorize('runner_job.write', await findSeat(ctx, team_id));
  const most = ctx.config.RUNNER_JOBS_PER_TEAM;
  const open = await RunnerJob.query(ctx.db).where({ team_id }).whereNull('finished_at').resultSize();
  if (open >= most) throw conflict(`At most ${most} jobs of a team may wait or run; cancel some, or wait`);
  const job_id = newId();
  await RunnerJob.query(ctx.db).insert({
    job_id,
    ...job,
    created_by: requireUser(ctx),
    correlation_id: ctx.correlationId,
    ...(step && {
      run_id: step.run_id,
      action_index: step.index,
      action_attempt: step.attempt,
      depth: step.depth,
      cause_user_ids: step.cause_user_ids,
    }),
  });
  await recordChange(ctx, {
    team_id,
    feature: 'runners',
    action: 'create',
    severity: 'MEDIUM',
    entity_type: 'runner_job',
    entity_id: job_id,
    title: 'Runner job',
    summary: 'queued a runner job',
    details: {
      labels: job.labels,
      timeout_minutes: job.timeout_minutes,
      variables: Object.keys(job.env),
      ...(step && { run_id: step.run_id, action_index: step.index }),
    },
  });
  return readJobRecord(ctx, job_id);
}
