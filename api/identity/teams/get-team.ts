import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { readTeam } from './read-team.js';
import type { TeamRecord } from './schema.js';

/**
 * Returns one team.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function getTeam(ctx: Context, teamId: string): Promise<TeamRecord> {
  const { team, seat } = await readTeam(ctx, teamId);
  authorize('team.read', seat);
  return team;
}
