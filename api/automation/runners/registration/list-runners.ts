import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { ListRunners, RunnerRecord } from '../schema.js';

/**
 * $1 = team id, $2 = seconds after which a silent runner is offline, $3 = limit, $4 = offset. Runners with the job that each holds under a
 * live lease.
 */
const statement = defineStatement({
  name: 'list_runners',
  text: /* sql */ `
    select r.runner_id, r.team_id, r.name, r.labels, r.version, r.last_seen_at, r.created_at, j.job_id,
      case when j.job_id is not null then 'busy'
        when r.last_seen_at > now() - make_interval(secs => $2) then 'online' else 'offline' end as status
    from runners r left join runner_jobs j
      on j.runner_id = r.runner_id and j.status in ('claimed', 'running') and j.lease_until > now()
    where r.team_id = $1 order by r.created_at, r.runner_id limit $3 offset $4`,
});

interface Row extends Record<string, unknown> {
  runner_id: string;
  team_id: string;
  name: string;
  labels: string[];
  version: string;
  last_seen_at: Date | null;
  created_at: Date;
  job_id: string | null;
  status: RunnerRecord['status'];
}

/**
 * Lists the runners of a team, oldest first.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED not a member, or a guest
 */
export async function listRunners(ctx: Context, { team_id, limit, offset }: ListRunners): Promise<RunnerRecord[]> {
  authorize('runner.read', await seatInTeam(ctx, team_id));
  const rows = await run<Row>(ctx.db, statement, [team_id, ctx.config.RUNNER_LEASE_SECONDS, limit, offset]);
  return rows.map(({ last_seen_at, created_at, ...row }) => ({
    ...row,
    last_seen_at: last_seen_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }));
}
