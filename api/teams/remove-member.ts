import { Membership } from '../../db/models/membership.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { seatOf } from '../core/seats.js';
import { holdTeam } from './hold-team.js';
import { keepAnAdmin } from './keep-an-admin.js';
import { readMember } from './read-members.js';
import { lockTasksOf, unassignTasks } from './unassign-tasks.js';

/**
 * Takes a person's seat, or gives up the caller's own, and takes the open tasks off that person. Returns how many they were.
 * @throws RESOURCE_NOT_FOUND no such team or member | PERMISSION_DENIED below admin, but for one’s own seat; guests
 * | RESOURCE_CONFLICT the last admin
 * Source: decision B2.
 */
export function removeMember(ctx: Context, teamId: string, userId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const team = await holdTeam(ctx, teamId);
    authorize(userId === userOf(ctx) ? 'member.remove' : 'member.manage', await seatOf(ctx, teamId));
    const member = await readMember(ctx, teamId, userId);
    if (!member) throw notFound('Member');
    await lockTasksOf(ctx, teamId, userId);
    // Writers hold the seat FOR KEY SHARE until they commit: after this lock none of them can still assign or act by it.
    const membership = (await Membership.query(ctx.db).findById([teamId, userId]).forUpdate()) as Membership;
    await keepAnAdmin(ctx, membership);
    await membership.$query(ctx.db).delete();
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'teams',
      action: 'remove_member',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: teamId,
      title: team.name,
      summary: userId === userOf(ctx) ? 'left the team' : `removed ${member.display_name}`,
      details: { user_id: userId, role: membership.role },
      event: { type: 'team.member_removed', payload: { member } },
    });
    return unassignTasks(ctx, teamId, userId);
  });
}
