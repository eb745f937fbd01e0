import { z } from 'zod';
import { SEATS } from '../../../platform/access/access.js';
import { Id, Timestamp } from '../../../platform/fields.js';
import { byOffset } from '../../../platform/endpoint/pages.js';

export const InvitationParams = z.object({ invitation_id: Id });
export const TeamInvitationParams = z.object({ team_id: Id, invitation_id: Id });

export const ListOwnInvitations = z.object(byOffset());
export type ListOwnInvitations = z.output<typeof ListOwnInvitations>;

const common = { invitation_id: z.string(), role: z.enum(SEATS), created_at: Timestamp, expires_at: Timestamp };

/** Invitation as the team's admins see it. */
export const Invitation = z
  .object({
    ...common,
    email: z.string().nullable().meta({ description: 'Null for a user invited by id, whose address the team does not learn' }),
    user_id: z.string().nullable().meta({ description: 'The user invited by id; null for an address' }),
    status: z.enum(['pending', 'expired']),
    created_by: z.string(),
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.output<typeof Invitation>;

/** Invitation as the invited user sees it. */
export const OwnInvitation = z
  .object({
    ...common,
    team_id: z.string(),
    team_name: z.string(),
    inviter_name: z.string(),
  })
  .meta({ id: 'OwnInvitation' });
export type OwnInvitation = z.output<typeof OwnInvitation>;

/** Answer of an invitation by id: neither name nor address of the invited user. */
export const InvitedUser = z
  .object({ success: z.literal(true), status: z.literal('invited'), invitation_id: z.string() })
  .meta({ id: 'InvitedUser' });
export type InvitedUser = z.output<typeof InvitedUser>;

/** Answer of a revoked or declined invitation. */
export const RevokedInvitation = z
  .object({ success: z.literal(true), invitation_id: z.string() })
  .meta({ id: 'RevokedInvitation' });
