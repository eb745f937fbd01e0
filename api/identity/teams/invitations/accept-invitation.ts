import type { Team } from '../../../../db/models/team.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Seat } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { createMembership } from '../create-membership.js';
import { lockTeam } from '../lock-team.js';
import type { Member } from '../schema.js';

interface InvitationRow extends Record<string, unknown> {
  team_id: string;
  role: Seat;
  accepted_at: Date | null;
  open: boolean;
}

/** $1 = invitation id, $2 = user id. */
const readStatement = defineStatement({
  name: 'read_own_invitation',
  text: /* sql */ `
    select team_id, role, accepted_at, expires_at > now() as open from invitations
    where invitation_id = $1 and revoked_at is null and invited_by in (select user_id from users where status = 'active')
      and (user_id = $2 or email in (select email from users where user_id = $2))`,
});

/** Returns the invitation if it is for the caller or their address and not revoked; paused while its sender is suspended. */
async function readOwn(ctx: Context, invitationId: string): Promise<InvitationRow | undefined> {
  return (await run<InvitationRow>(ctx.db, readStatement, [invitationId, requireUser(ctx)]))[0];
}

/**
 * Locks the team of an invitation to the caller, and reads the invitation: every change of it locks the team, so the result holds until the commit.
 * @throws RESOURCE_NOT_FOUND no such invitation, revoked, declined, or for another user; the team is deleted | RESOURCE_CONFLICT accepted before
 */
export async function lockOwnInvitation(ctx: Context, invitationId: string): Promise<{ team: Team; invitation: InvitationRow }> {
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
