import type { Seat } from '../../core/access.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { conflict, notFound } from '../../core/errors.js';
import { createMembership } from '../create-membership.js';
import { lockTeam } from '../lock-team.js';
import type { Member } from '../schema.js';

interface Invited {
  team_id: string;
  role: Seat;
  accepted_at: Date | null;
  open: boolean;
}

/** The invitation, if it is one of the caller's address and was not taken back; while who invited is kept out, it rests. */
const readOwn = (ctx: Context, invitationId: string): Promise<Invited | undefined> =>
  ctx
    .db('invitations')
    .where({ invitation_id: invitationId })
    .whereNull('revoked_at')
    .whereIn('invited_by', ctx.db('users').where({ status: 'active' }).select('user_id'))
    .whereIn(
      'email',
      ctx
        .db('users')
        .where({ user_id: userOf(ctx) })
        .select('email'),
    )
    .first<Invited | undefined>('team_id', 'role', 'accepted_at', ctx.db.raw('expires_at > now() as open'));

/**
 * Takes the seat that the caller was invited to; an invitation gives one seat, once.
 * @throws RESOURCE_NOT_FOUND no such invitation, taken back, or for another address; the team is gone
 * | RESOURCE_CONFLICT accepted before, lapsed, or a member already
 * Source: decision B2.
 */
export function acceptInvitation(ctx: Context, invitationId: string): Promise<Member> {
  return inTransaction(ctx, async (ctx) => {
    const seen = await readOwn(ctx, invitationId);
    if (!seen) throw notFound('Invitation');
    const team = await lockTeam(ctx, seen.team_id);
    // Whoever changes the team's invitations holds the team: what is read now stands until the commit.
    const invitation = await readOwn(ctx, invitationId);
    if (!invitation) throw notFound('Invitation');
    if (invitation.accepted_at) throw conflict('The invitation has been accepted');
    if (!invitation.open) throw conflict('The invitation has lapsed: ask for another one');
    const words = { action: 'join' as const, summary: () => 'joined the team' };
    return createMembership(ctx, team, userOf(ctx), invitation.role, words);
  });
}
