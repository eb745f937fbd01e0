import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import type { Job } from './schema.js';

type Row = Omit<Job, 'created_at' | 'started_at' | 'finished_at'> & {
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
};

/** $1 = job id. */
const statement = defineStatement({
  name: 'get_deprovision_job',
  text: /* sql */ `
    select j.job_id, j.user_id, j.reassign_to, j.reason, j.requested_by as created_by, j.status, j.created_at, j.started_at, j.finished_at,
      (select coalesce(json_agg(json_build_object('step', s.step, 'team_id', s.team_id, 'result', s.result,
        'done_at', to_char(s.done_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by s.done_at), '[]')
        from deprovision_steps s where s.job_id = j.job_id) as steps
    from deprovision_jobs j where j.job_id = $1`,
});

/**
 * Returns a deprovision job with its progress.
 * @throws RESOURCE_NOT_FOUND
 */
export async function getDeprovisionJob(ctx: Context, jobId: string): Promise<Job> {
  const [row] = await run<Row>(ctx.db, statement, [jobId]);
  if (!row) throw notFound('Job');
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
