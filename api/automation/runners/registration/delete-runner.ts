import { Runner, RunnerRegistrationToken } from '../../../../db/models/runner.js';
import { RunnerJob } from '../../../../db/models/runner-job.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';
import { endRunnerJob } from '../record/end-job.js';
import { HELD } from '../record/rules.js';

/** Ends the job that a locked runner holds: nobody reports on it any more. */
async function loseRunnerJob(ctx: Context, runnerId: string): Promise<string | null> {
  const held = await RunnerJob.query(ctx.db).where({ runner_id: runnerId }).whereIn('status', HELD).first();
  if (!held) return null;
  await endRunnerJob(ctx, held.job_id, { status: 'lost', reason: 'runner_deleted' });
  return held.job_id;
}

/**
 * Deletes a runner: its token is invalid at once, and the job that it holds is lost.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function deleteRunner(ctx: Context, runnerId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const runner = await Runner.query(ctx.db).findById(runnerId);
    if (!runner) throw notFound('Runner');
    authorize('runner.manage', await findSeat(ctx, runner.team_id));
    // A transaction that gives it a job holds this lock until the commit.
    if (!(await Runner.query(ctx.db).findById(runnerId).forUpdate())) throw notFound('Runner');
    const job_id = await loseRunnerJob(ctx, runnerId);
    await Runner.query(ctx.db).deleteById(runnerId);
    const { team_id, name, labels } = runner;
    await recordChange(ctx, {
      team_id,
      feature: 'runners',
      action: 'delete',
      severity: 'HIGH',
      entity_type: 'runner',
      entity_id: runnerId,
      title: name,
      summary: 'deleted the runner',
      details: { name, labels, ...(job_id && { lost_job_id: job_id }) },
    });
  });
}

/** Deletes the registration tokens that a user created in a team, which the caller has locked. Returns their number. */
export const deleteRegistrationTokens = async ({ db }: Pick<Context, 'db'>, teamId: string, userId: string): Promise<number> =>
  await RunnerRegistrationToken.query(db).where({ team_id: teamId, created_by: userId }).delete();

/** $1 = team id. Gives ended jobs an end long ago, so that the maintenance job deletes them with their logs, in batches. */
const expireStatement = defineStatement({
  name: 'expire_runner_jobs_of_team',
  text: /* sql */ `
    update runner_jobs set finished_at = 'epoch' where team_id = $1 and finished_at is not null returning log_blocks`,
});

/** $1 = team id, $2 = blocks. Sets what the logs of a team count. */
const setUsageStatement = defineStatement({
  name: 'set_runner_log_usage',
  text: 'update runner_log_usage set blocks = $2 where team_id = $1',
});

/**
 * Deletes the runners, open jobs and registration tokens of a team that the caller has locked, and has its ended jobs deleted later: their logs may
 * be gigabytes. Returns the numbers of runners and jobs. A runner finds its token invalid, and stops.
 */
export async function deleteRunnersOfTeam(ctx: Context, teamId: string): Promise<{ runners: number; jobs: number }> {
  await RunnerRegistrationToken.query(ctx.db).where({ team_id: teamId }).delete();
  // The runners first: a transaction that gives one a job holds its lock until the commit.
  const runners = await Runner.query(ctx.db).where({ team_id: teamId }).delete();
  const open = await RunnerJob.query(ctx.db).where({ team_id: teamId }).whereNull('finished_at').delete();
  const ended = await run<{ log_blocks: number }>(ctx.db, expireStatement, [teamId]);
  // Last: a chunk of a log locks its job, then this row.
  const blocks = ended.reduce((sum, { log_blocks }) => sum + log_blocks, 0);
  await run(ctx.db, setUsageStatement, [teamId, blocks]);
  return { runners, jobs: open + ended.length };
}
