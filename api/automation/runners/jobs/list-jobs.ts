import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { JobRecord } from '../record/job-schema.js';
import type { ListJobs } from '../schema.js';

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** $1 = team id, $2 = cursor, $3 = limit. The newest jobs of a team. */
const allStatement = defineStatement({
  name: 'list_runner_jobs',
  text: /* sql */ `
    select runner_job_json(j) as job from runner_jobs j where j.team_id = $1 and j.job_id < $2 order by j.job_id desc limit $3`,
});

/** The same; $4 = status. */
const byStatusStatement = defineStatement({
  name: 'list_runner_jobs_by_status',
  text: /* sql */ `
    select runner_job_json(j) as job from runner_jobs j
    where j.team_id = $1 and j.status = $4 and j.job_id < $2 order by j.job_id desc limit $3`,
});

/**
 * Lists the jobs of a team, newest first.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED not a member, or a guest
 */
export async function listRunnerJobs(ctx: Context, { team_id, status, before, limit }: ListJobs): Promise<JobRecord[]> {
  authorize('runner.read', await seatInTeam(ctx, team_id));
  const values = [team_id, before ?? HIGHEST_ID, limit];
  const rows = await (status
    ? run<{ job: JobRecord }>(ctx.db, byStatusStatement, [...values, status])
    : run<{ job: JobRecord }>(ctx.db, allStatement, values));
  return rows.map(({ job }) => job);
}
