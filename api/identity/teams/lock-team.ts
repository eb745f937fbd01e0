import { Team } from '../../../db/models/team.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';

/**
 * Locks a live team until the commit. This serializes changes of its memberships, so the last admin stays. References to the team
 * (projects, comments) are not blocked.
 * @throws RESOURCE_NOT_FOUND
 */
export async function lockTeam(ctx: Context, teamId: string): Promise<Team> {
  const team = await Team.query(ctx.db).findById(teamId).modify('live').forNoKeyUpdate();
  if (!team) throw notFound('Team');
  return team;
}
