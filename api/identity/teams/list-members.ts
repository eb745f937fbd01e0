import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { readMembers } from './read-members.js';
import { readTeam } from './read-team.js';
import type { Member } from './schema.js';

/**
 * Lists the members of a team with their roles.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function listMembers(ctx: Context, teamId: string): Promise<Member[]> {
  const { seat } = await readTeam(ctx, teamId);
  authorize('team.read', seat);
  return readMembers(ctx, teamId);
}
