import type { Team } from '../../../db/models/team.js';
import { User } from '../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { addableAmong } from './addable-among.js';
import { createMembership } from './create-membership.js';
import { lockTeam } from './lock-team.js';
import { notifyAdded } from './notify-added.js';
import { invitePerson } from './invitations/invite-person.js';
import type { Invitation } from './invitations/schema.js';
import { readMember } from './read-members.js';
import type { AddMember, Member } from './schema.js';

/** $1 = team id, $2 = address. Returns a row if the address belongs to a member. */
const memberStatement = defineStatement({
  name: 'find_member_by_address',
  text: 'select from users u join memberships m using (user_id) where u.email = $2 and m.team_id = $1',
});

/** @throws RESOURCE_NOT_FOUND unknown or deprovisioned user */
async function checkUser(ctx: Context, userId: string): Promise<void> {
  const user = await User.query(ctx.db).findById(userId).select('status');
  if (!user || user.status === 'deprovisioned') throw notFound('User');
}

/** Adds a user by id, or invites one who has to agree first. */
async function addUser(ctx: Context, team: Team, userId: string, role: Seat): Promise<AddedMember> {
  await checkUser(ctx, userId);
  if (await readMember(ctx, team.team_id, userId)) throw conflict('Already a member of this team');
  if (!(await addableAmong(ctx, [userId])).has(userId)) {
    return { invited: await invitePerson(ctx, team, { user_id: userId }, role) };
  }
  const member = await createMembership(ctx, team, userId, role, {
    action: 'add_member',
    summary: ({ display_name }) => `added ${display_name}`,
  });
  await notifyAdded(ctx, team, [userId], role);
  return { member };
}

/** A member, or an invitation: by address, or of a user who has to agree first (`user_id` is set). */
export type AddedMember = { member: Member } | { invited: Invitation };

/**
 * Adds the user `user_id` to the team and tells them, or invites an `email`, whether or not it has an account: neither the response nor its
 * time reveals which, and nobody joins without consent. Where the installation requires consent, a user who shares no team with
 * the caller is invited too.
 * @throws RESOURCE_NOT_FOUND no such team or user | PERMISSION_DENIED below admin | INVALID_REQUEST too many invitations |
 * RESOURCE_CONFLICT a member, as the list of members shows too, or already invited
 */
export function addMember(ctx: Context, teamId: string, { user_id, email, role }: AddMember): Promise<AddedMember> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize('member.manage', await findSeat(ctx, teamId));
    if (user_id !== undefined) return addUser(ctx, team, user_id, role);
    const address = email as string;
    if ((await run(ctx.db, memberStatement, [teamId, address])).length > 0) throw conflict('Already a member of this team');
    return { invited: await invitePerson(ctx, team, { email: address }, role) };
  });
}
