import { authorize } from '../core/access.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { lockTeam } from './lock-team.js';
import { requireAnotherAdmin } from './require-another-admin.js';
import { readMember } from './read-members.js';
import { removeMembership } from './remove-membership.js';

/**
 * Takes a person's seat, or gives up the caller's own, and takes the open tasks off that person. Returns how many they were.
 * @throws RESOURCE_NOT_FOUND no such team or member | PERMISSION_DENIED below admin, but for one’s own seat; guests
 * | RESOURCE_CONFLICT the last admin
 * Source: decision B2.
 */
export function removeMember(ctx: Context, teamId: string, userId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize(userId === userOf(ctx) ? 'member.remove' : 'member.manage', await seatOf(ctx, teamId));
    const member = await readMember(ctx, teamId, userId);
    if (!member) throw notFound('Member');
    await requireAnotherAdmin(ctx, { team_id: teamId, user_id: userId, role: member.role });
    const summary = userId === userOf(ctx) ? 'left the team' : `removed ${member.display_name}`;
    return removeMembership(ctx, team, member, { summary });
  });
}
