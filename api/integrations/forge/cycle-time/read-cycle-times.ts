import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { seatInTeam, findSeat } from '../../../platform/access/seats.js';
import { cycleTimesStatement } from './read-cycle-times.sql.js';
import type { CycleTimes, ReadCycleTimes } from './schema.js';

const projectStatement = defineStatement({
  name: 'team_of_live_project',
  text: 'select team_id from projects where project_id = $1 and deleted_at is null',
});

/**
 * Reads the times from an issue's opening to the merge that closed it, of the caller's teams, one team or one project: medians by repository
 * and by project, and the newest 500 samples.
 * @throws RESOURCE_NOT_FOUND unknown team or project | PERMISSION_DENIED of another team
 */
export async function readCycleTimes(ctx: Context, { team_id, project_id, days }: ReadCycleTimes): Promise<CycleTimes> {
  if (team_id !== undefined) authorize('cycle_time.read', await seatInTeam(ctx, team_id));
  if (project_id !== undefined) {
    const [project] = await run<{ team_id: string }>(ctx.db, projectStatement, [project_id]);
    if (!project) throw notFound('Project');
    authorize('cycle_time.read', await findSeat(ctx, project.team_id));
  }
  const values = [requireUser(ctx), team_id ?? null, days, rolesFor('cycle_time.read'), project_id ?? null];
  const [row] = await run<{ json: CycleTimes }>(ctx.db, cycleTimesStatement, values);
  if (!row) throw new Error('The statement of cycle times returned no row');
  return row.json;
}
