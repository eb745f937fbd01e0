import { z } from 'zod';
import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { Member, TeamParams } from '../schema.js';
import { acceptInvitation } from './accept-invitation.js';
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
/** No scope of the contract names changes of teams. */
const writeScope = 'admin:*';

export const invitationRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/teams/:team_id/invitations',
    tag,
    summary: 'List a team’s open invitations',
    description: 'Lapsed ones too; those who accepted are members.',
    ability: 'member.manage',
    scope,
    params: TeamParams,
    response: z.array(Invitation),
    errors: [404],
    handle: ({ ctx, params }) => listInvitations(ctx, params.team_id),
  }),
  endpoint({
    method: 'delete',
    path: '/api/teams/:team_id/invitations/:invitation_id',
    tag,
    summary: 'Take an invitation back',
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
    method: 'get',
    path: '/api/invitations',
    tag,
    summary: 'List the invitations to oneself',
    ability: 'invitation.list',
    scope,
    query: ListOwnInvitations,
    response: z.array(OwnInvitation),
    pages: {},
    handle: ({ ctx, query }) => listOwnInvitations(ctx, query),
  }),
  endpoint({
    method: 'post',
    path: '/api/invitations/:invitation_id/accept',
    tag,
    summary: 'Accept an invitation',
    description: 'For the account with the invited email address, which it may have had before or get later. Seven days; once.',
    ability: 'invitation.accept',
    scope: writeScope,
    params: InvitationParams,
    response: Member,
    errors: [404, 409],
    handle: ({ ctx, params }) => acceptInvitation(ctx, params.invitation_id),
  }),
];
