import { Team } from '../../db/models/team.js';
import type { Context } from '../core/context.js';
import { notFound } from '../core/errors.js';

/**
 * A live team, locked until the commit: changes of its seats queue here one by one, so the last admin stays the last.
 * What only refers to the team (projects, comments) is not held up.
 * @throws RESOURCE_NOT_FOUND
 */
export async function lockTeam(ctx: Context, teamId: string): Promise<Team> {
  const team = await Team.query(ctx.db).findById(teamId).modify('live').forNoKeyUpdate();
  if (!team) throw notFound('Team');
  return team;
}
