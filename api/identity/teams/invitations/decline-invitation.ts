import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { lockOwnInvitation } from './accept-invitation.js';

/** $1 = invitation id. */
const statement = defineStatement({
  name: 'decline_invitation',
  text: 'update invitations set revoked_at = now() where invitation_id = $1',
});

/**
 * Declines an invitation to the caller, expired ones too. The team only sees that it is gone: an entry in its audit log would tell the admin whose
 * address it is, so the entry belongs to no team.
 * @throws RESOURCE_NOT_FOUND no such invitation, revoked, declined before, or for another user; the team is deleted
 * | RESOURCE_CONFLICT accepted before
 */
export function declineInvitation(ctx: Context, invitationId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { team } = await lockOwnInvitation(ctx, invitationId);
    await run(ctx.db, statement, [invitationId]);
    await recordChange(ctx, {
      team_id: null,
      feature: 'teams',
      action: 'decline',
      entity_type: 'user',
      entity_id: requireUser(ctx),
      details: { invitation_id: invitationId, invited_to: team.team_id },
    });
  });
}
