import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { Member, TeamParams } from '../schema.js';
import { acceptInvitation } from './accept-invitation.js';
import { declineInvitation } from './decline-invitation.js';
import { listInvitations } from './list-invitations.js';
import { listOwnInvitations } from './list-own-invitations.js';
import { revokeInvitation } from './revoke-invitation.js';
import {
  Invitation,
  InvitationParams,
  ListOwnInvitations,
  OwnInvitation,
  RevokedInvitation,
  TeamInvitationParams,
} from './schema.js';

const tag = 'Teams';
const scope = 'teams:read';
/** No narrower scope covers changes of teams. */
const writeScope = 'admin:*';

export const invitationRoutes: Endpoint[] = [
  endpoint({
    id: 'listInvitations',
    method: 'get',
    path: '/api/teams/:team_id/invitations',
    tag,
    summary: 'List invitations of a team',
    description: 'Pending and expired invitations; accepted ones are members.',
    ability: 'member.manage',
    scope,
    params: TeamParams,
    response: z.array(Invitation),
    errors: [404],
    handle: ({ ctx, params }) => listInvitations(ctx, params.team_id),
  }),
  endpoint({
    id: 'revokeInvitation',
    method: 'delete',
    path: '/api/teams/:team_id/invitations/:invitation_id',
    tag,
    summary: 'Revoke an invitation',
    ability: 'member.manage',
    scope: writeScope,
    params: TeamInvitationParams,
    response: RevokedInvitation,
    errors: [404, 409],
    async handle({ ctx, params }) {
      await revokeInvitation(ctx, params.team_id, params.invitation_id);
      return { success: true, invitation_id: params.invitation_id };
    },
  }),
  endpoint({
    id: 'listOwnInvitations',
    method: 'get',
    path: '/api/invitations',
    tag,
    summary: 'List your invitations',
    ability: 'invitation.list',
    scope,
    query: ListOwnInvitations,
    response: z.array(OwnInvitation),
    handle: ({ ctx, query }) => listOwnInvitations(ctx, query),
  }),
  endpoint({
    id: 'acceptInvitation',
    method: 'post',
    path: '/api/invitations/:invitation_id/accept',
    tag,
    summary: 'Accept an invitation',
    description:
      'For the account with the invited email address, whether it existed before or not. Works once, within seven days.',
    ability: 'invitation.accept',
    scope: writeScope,
    params: InvitationParams,
    response: Member,
    errors: [404, 409],
    handle: ({ ctx, params }) => acceptInvitation(ctx, params.invitation_id),
  }),
  endpoint({
    id: 'declineInvitation',
    method: 'post',
    path: '/api/invitations/:invitation_id/decline',
    tag,
    summary: 'Decline an invitation',
    description: 'The team no longer lists it, and is not told who declined. It may invite again.',
    ability: 'invitation.accept',
    scope: writeScope,
    params: InvitationParams,
    response: RevokedInvitation,
    errors: [404, 409],
    async handle({ ctx, params }) {
      await declineInvitation(ctx, params.invitation_id);
      return { success: true, invitation_id: params.invitation_id };
    },
  }),
];
