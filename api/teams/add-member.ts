import { run, type Statement } from '../../db/statement.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { conflict, notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { createMembership } from './create-membership.js';
import { lockTeam } from './lock-team.js';
import { invitePerson } from './invitations/invite-person.js';
import type { Invitation } from './invitations/schema.js';
import type { AddMember, Member } from './schema.js';

/** $1 = team id, $2 = address. Returns a row if the address belongs to a member. */
const memberStatement: Statement = {
  name: 'find_member_by_address',
  text: 'select from users u join memberships m using (user_id) where u.email = $2 and m.team_id = $1',
};

/** @throws RESOURCE_NOT_FOUND unknown or deprovisioned user */
async function checkUser(ctx: Context, userId: string): Promise<void> {
  const user = await ctx.db('users').where({ user_id: userId }).first<{ status: string } | undefined>('status');
  if (!user || user.status === 'deprovisioned') throw notFound('User');
}

/**
 * Adds the user `user_id` to the team, or invites an `email`, whether or not it has an account: neither the response nor its time
 * reveals which, and nobody joins without consent.
 * @throws RESOURCE_NOT_FOUND no such team or user | PERMISSION_DENIED below admin | INVALID_REQUEST too many invitations |
 * RESOURCE_CONFLICT a member, as the list of members shows too, or already invited
 */
export function addMember(ctx: Context, teamId: string, { user_id, email, role }: AddMember): Promise<Member | Invitation> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize('member.manage', await seatOf(ctx, teamId));
    if (user_id !== undefined) {
      await checkUser(ctx, user_id);
      return createMembership(ctx, team, user_id, role, {
        action: 'add_member',
        summary: (member) => `added ${member.display_name}`,
      });
    }
    const address = email as string;
    if ((await run(ctx.db, memberStatement, [teamId, address])).length > 0) throw conflict('Already a member of this team');
    return invitePerson(ctx, team, address, role);
  });
}
