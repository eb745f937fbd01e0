import type { Seat } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import type { Team } from '../../../../db/models/team.js';
import { createMembership } from '../create-membership.js';
import { lockTeam } from '../lock-team.js';
import type { Member } from '../schema.js';

interface Invited {
  team_id: string;
  role: Seat;
  accepted_at: Date | null;
  open: boolean;
}

/** Returns the invitation if it is for the caller or their address and not revoked; paused while its sender is suspended. */
const readOwn = (ctx: Context, invitationId: string): Promise<Invited | undefined> =>
  ctx
    .db('invitations')
    .where({ invitation_id: invitationId })
    .whereNull('revoked_at')
    .whereIn('invited_by', ctx.db('users').where({ status: 'active' }).select('user_id'))
    .where((invitee) => {
      const me = ctx.db('users').where({ user_id: requireUser(ctx) });
      void invitee.where({ user_id: requireUser(ctx) }).orWhereIn('email', me.select('email'));
    })
    .first<Invited | undefined>('team_id', 'role', 'accepted_at', ctx.db.raw('expires_at > now() as open'));

/**
 * Locks the team of an invitation to the caller, and reads the invitation: every change of it locks the team, so the result holds until the commit.
 * @throws RESOURCE_NOT_FOUND no such invitation, revoked, declined, or for another user; the team is deleted | RESOURCE_CONFLICT accepted before
 */
export async function lockOwnInvitation(ctx: Context, invitationId: string): Promise<{ team: Team; invitation: Invited }> {
  const seen = await readOwn(ctx, invitationId);
  if (!seen) throw notFound('Invitation');
  const team = await lockTeam(ctx, seen.team_id);
  const invitation = await readOwn(ctx, invitationId);
  if (!invitation) throw notFound('Invitation');
  if (invitation.accepted_at) throw conflict('The invitation is already accepted');
  return { team, invitation };
}

/**
 * Accepts an invitation, which grants one membership once.
 * @throws RESOURCE_NOT_FOUND no such invitation, revoked, or for another user; the team is deleted
 * | RESOURCE_CONFLICT accepted before, expired, or a member already
 */
export function acceptInvitation(ctx: Context, invitationId: string): Promise<Member> {
  return inTransaction(ctx, async (ctx) => {
    const { team, invitation } = await lockOwnInvitation(ctx, invitationId);
    if (!invitation.open) throw conflict('The invitation has expired');
    const words = { action: 'join' as const, summary: () => 'joined the team' };
    return createMembership(ctx, team, requireUser(ctx), invitation.role, words);
  });
}
