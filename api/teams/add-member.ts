import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { giveSeat } from './give-seat.js';
import { holdTeam } from './hold-team.js';
import { invitePerson } from './invitations/invite-person.js';
import type { Invitation } from './invitations/schema.js';
import type { AddMember, Member } from './schema.js';

/**
 * The account, undefined for an address without one.
 * @throws RESOURCE_NOT_FOUND no such id, or a person who left for good
 */
async function findUser(ctx: Context, { user_id, email }: AddMember): Promise<string | undefined> {
  const user = await ctx
    .db('users')
    .where(user_id === undefined ? { email } : { user_id })
    .first<{ user_id: string; status: string } | undefined>('user_id', 'status');
  if (user?.status === 'deprovisioned' || (!user && user_id !== undefined)) throw notFound('User');
  return user?.user_id;
}

/**
 * Gives a person with an account a seat in the team; an address without one is invited by mail.
 * @throws RESOURCE_NOT_FOUND no such team or person | PERMISSION_DENIED below admin
 * | RESOURCE_CONFLICT has a seat, or is invited, already | INVALID_REQUEST too many open invitations
 * Source: decision B2.
 */
export function addMember(ctx: Context, teamId: string, input: AddMember): Promise<Member | Invitation> {
  return inTransaction(ctx, async (ctx) => {
    const team = await holdTeam(ctx, teamId);
    authorize('member.manage', await seatOf(ctx, teamId));
    const userId = await findUser(ctx, input);
    const { email, role } = input;
    if (userId !== undefined) {
      return giveSeat(ctx, team, userId, role, {
        action: 'add_member',
        summary: (member) => `added ${member.display_name}`,
      });
    }
    return invitePerson(ctx, team, email as string, role);
  });
}
