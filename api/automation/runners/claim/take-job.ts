import type { StoredEnv } from '../../../../db/models/runner-job.js';
import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { encryptForHolder } from '../../../platform/crypto/holder-key.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { SecretUnreadable, type StoredSecret } from '../../secrets/vault.js';
import { endRunnerJob } from '../record/end-job.js';
import type { EndReason } from '../record/rules.js';
import type { ClaimedJob } from '../schema.js';
import { claimStatement, keepMasksStatement, releaseStatement, standingStatement } from './claim.sql.js';
import { type FilledEnv, fillInSecrets, readSecrets } from './fill-in-secrets.js';

interface ClaimedJobRow extends Record<string, unknown> {
  job_id: string;
  team_id: string;
  command: string;
  env: StoredEnv;
  labels: string[];
  timeout_minutes: number;
  correlation_id: string;
  run_id: string | null;
}

/** A runner that asks for a job, with its token. */
export interface Asking {
  runner: RunnerIdentity;
  token: string;
}

/** Returns why a job may not run although it was queued; undefined if it may. */
async function obstacle({ db }: Context, { job_id }: ClaimedJobRow): Promise<EndReason | undefined> {
  const roles = [rolesFor('runner_job.write'), rolesFor('secret.use_anywhere')];
  const [standing] = await run<{ is_creator_allowed: boolean; are_secrets_allowed: boolean; is_run_open: boolean }>(
    db,
    standingStatement,
    [job_id, ...roles],
  );
  if (!standing?.is_run_open) return 'run_ended';
  if (!standing.is_creator_allowed) return 'creator_not_authorized';
  return standing.are_secrets_allowed ? undefined : 'secret_not_authorized';
}

/** A job that was taken, or one that ended instead. */
type Result = { job: ClaimedJobRow; secrets: StoredSecret[] } | 'ended' | undefined;

/** Ends a job that may not run, in the transaction that has taken it: no runner has had it. */
async function refuse(ctx: Context, { job_id }: ClaimedJobRow, reason: EndReason): Promise<'ended'> {
  await run(ctx.db, releaseStatement, [job_id]);
  await endRunnerJob(ctx, job_id, { status: reason === 'run_ended' ? 'cancelled' : 'failed', reason });
  return 'ended';
}

/** Gives the runner the oldest job for it in one transaction; or ends that job, if it may not run. */
function takeOldest(ctx: Context, { runner }: Asking): Promise<Result> {
  return inTransaction(ctx, async (ctx): Promise<Result> => {
    const values = [runner.runner_id, ctx.config.RUNNER_LEASE_SECONDS];
    const [job] = await run<ClaimedJobRow>(ctx.db, claimStatement, values);
    if (!job) return undefined;
    const caused = { ...ctx, correlationId: job.correlation_id };
    const reason = await obstacle(ctx, job);
    if (reason) return refuse(caused, job, reason);
    const secrets = await readSecrets(caused, job);
    if (typeof secrets === 'string') return refuse(caused, job, secrets);
    await recordChange(caused, {
      team_id: job.team_id,
      feature: 'runners',
      action: 'claim',
      severity: 'MEDIUM',
      entity_type: 'runner_job',
      entity_id: job.job_id,
      title: 'Runner job',
      details: { runner_id: runner.runner_id, runner_name: runner.name, secrets: secrets.map(({ name }) => name) },
    });
    return { job, secrets };
  });
}

/** Decrypts the secrets of a job that is committed, and keeps what its log must not show. Undefined: the job has ended. */
async function open(ctx: Context, asking: Asking, job: ClaimedJobRow, secrets: StoredSecret[]): Promise<FilledEnv | undefined> {
  const filled = await Promise.resolve()
    .then(() => fillInSecrets(ctx.config, job, secrets))
    .catch(async (error: unknown) => {
      if (!(error instanceof SecretUnreadable)) throw error;
      ctx.log.error({ err: error, job_id: job.job_id }, 'a runner job failed: its secrets cannot be decrypted');
      await inTransaction(ctx, (ctx) => endRunnerJob(ctx, job.job_id, { status: 'failed', reason: 'secret_unreadable' }));
    });
  if (!filled || filled.values.length === 0) return filled ?? undefined;
  const masks = encryptForHolder(asking.token, job.job_id, JSON.stringify(filled.values));
  const kept = await run(ctx.db, keepMasksStatement, [job.job_id, asking.runner.runner_id, masks]);
  return kept.length > 0 ? filled : undefined;
}

/**
 * Gives a runner the oldest job of its team of which it has all labels; undefined if there is none. Jobs that may not run any more end
 * on the way. The values of secrets are in the result only, and are decrypted after the commit.
 * @throws a unique violation of `runner_jobs_held`: the runner holds a job
 */
export async function takeJob(ctx: Context, asking: Asking): Promise<ClaimedJob | undefined> {
  for (;;) {
    const result = await takeOldest(ctx, asking);
    if (result === undefined) return undefined;
    if (result === 'ended') continue;
    const { job, secrets } = result;
    const filled = await open(ctx, asking, job, secrets);
    if (!filled) continue;
    return {
      job_id: job.job_id,
      command: job.command,
      env: filled.env,
      masked: filled.masked,
      labels: job.labels,
      timeout_seconds: job.timeout_minutes * 60,
      lease_seconds: ctx.config.RUNNER_LEASE_SECONDS,
      heartbeat_seconds: ctx.config.RUNNER_HEARTBEAT_SECONDS,
    };
  }
}
