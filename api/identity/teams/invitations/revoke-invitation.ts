import { fn } from 'objection';
import { Invitation } from '../../../../db/models/team.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';
import { lockTeam } from '../lock-team.js';

/**
 * Revokes an invitation; a repetition changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT already accepted
 */
export function revokeInvitation(ctx: Context, teamId: string, invitationId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize('member.manage', await findSeat(ctx, teamId));
    const invitation = await Invitation.query(ctx.db).findOne({ team_id: teamId, invitation_id: invitationId });
    if (!invitation) throw notFound('Invitation');
    if (invitation.accepted_at) throw conflict('The invitation is already accepted; remove the member instead');
    if (invitation.revoked_at) return;
    await invitation.$query(ctx.db).patch({ revoked_at: fn.now() });
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'teams',
      action: 'revoke_invitation',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: teamId,
      title: team.name,
      summary: `revoked the invitation of ${invitation.email ?? 'a user'}`,
      details: {
        invitation_id: invitationId,
        ...(invitation.email === null ? { user_id: invitation.user_id } : { email: invitation.email }),
      },
    });
  });
}
