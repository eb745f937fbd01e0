import type { EnvPiece, StoredEnv } from '../../../../db/models/runner-job.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import type { JobRecord } from '../record/job-schema.js';
import type { JobDetail } from '../schema.js';
import { readJob } from './read-job.js';

/** $1 = job id. */
const statement = defineStatement({
  name: 'get_runner_job',
  text: /* sql */ `
    select runner_job_json(j) as job, j.command, j.env, j.output, j.log_size::float8 as log_size from runner_jobs j where j.job_id = $1`,
});

interface Row extends Record<string, unknown> {
  job: JobRecord;
  command: string;
  env: StoredEnv;
  output: string | null;
  log_size: number;
}

const shown = (piece: EnvPiece): string => (typeof piece === 'string' ? piece : `{{secret:${piece.secret}}}`);

/**
 * Returns a job with its command, its variables and its output. References to secrets are not filled in.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, or a guest
 */
export async function getRunnerJob(ctx: Context, jobId: string): Promise<JobDetail> {
  await readJob(ctx, 'runner.read', jobId);
  const [row] = await run<Row>(ctx.db, statement, [jobId]);
  if (!row) throw notFound('Job');
  const { job, env, ...rest } = row;
  const texts = Object.entries(env).map(([name, pieces]) => [name, pieces.map(shown).join('')]);
  return { ...job, ...rest, env: Object.fromEntries(texts) as Record<string, string> };
}
