import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { lockTeam } from './lock-team.js';
import { requireAnotherAdmin } from './require-another-admin.js';
import { readMember } from './read-members.js';
import { removeMembership } from './remove-membership.js';

/**
 * Removes a member or the caller from a team and unassigns their open tasks. Returns the number of tasks.
 * @throws RESOURCE_NOT_FOUND no such team or member | PERMISSION_DENIED below admin, except for oneself
 * | RESOURCE_CONFLICT the last admin
 */
export function removeMember(ctx: Context, teamId: string, userId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize(userId === requireUser(ctx) ? 'member.remove' : 'member.manage', await findSeat(ctx, teamId));
    const member = await readMember(ctx, teamId, userId);
    if (!member) throw notFound('Member');
    await requireAnotherAdmin(ctx, { team_id: teamId, user_id: userId, role: member.role });
    const summary = userId === requireUser(ctx) ? 'left the team' : `removed ${member.display_name}`;
    return removeMembership(ctx, team, member, { summary });
  });
}
