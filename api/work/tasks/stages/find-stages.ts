import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { run, defineStatement } from '../../../../db/statement.js';
import type { Stage } from './places.js';

/** $1 = team ids, $2 = caller id, $3 = roles that may list. */
const stagesStatement = defineStatement({
  name: 'stages_of_teams',
  text: /* sql */ `
    select s.stage_id, s.team_id, s.name, s.status, s.position from stages s
    where s.team_id = any($1::uuid[])
      and exists (select from memberships m where m.team_id = s.team_id and m.user_id = $2 and m.role = any($3::text[]))
    order by s.team_id, array_position(array['todo', 'in_progress', 'in_review', 'done'], s.status), s.position, s.stage_id`,
});

/** Lists the stages of teams in their order. Those of another team are not listed. */
export async function findStages(ctx: Context, teamIds: Iterable<string>): Promise<Stage[]> {
  const teams = [...new Set(teamIds)];
  if (teams.length === 0) return [];
  return run<Stage & Record<string, unknown>>(ctx.db, stagesStatement, [teams, requireUser(ctx), rolesFor('stage.list')]);
}
