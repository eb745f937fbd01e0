import { acceptInvitation } from '../../../identity/teams/invitations/accept-invitation.js';
import { declineInvitation } from '../../../identity/teams/invitations/decline-invitation.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { revokeInvitation } from '../../../identity/teams/invitations/revoke-invitation.js';
import { InvitationParams, TeamInvitationParams } from '../../../identity/teams/invitations/schema.js';
import { page, type Page } from '../../page.js';

/** Invitations per page. */
export const SHOWN = { limit: 100, offset: 0 };

/** Target of the invitation email's link. The link grants nothing: the address of the signed-in user decides. */
export const invitationPages: Page[] = [
  page({
    method: 'get',
    path: '/app/invitations',
    access: 'invitation.list',
    handle: async ({ ctx }) => ({
      view: 'teams/invitations',
      title: 'Invitations',
      data: { invitations: await listOwnInvitations(ctx, SHOWN) },
    }),
  }),
  page({
    method: 'post',
    path: '/app/invitations/:invitation_id/accept',
    access: 'invitation.accept',
    params: InvitationParams,
    async handle({ ctx, params }) {
      await acceptInvitation(ctx, params.invitation_id);
      return { to: '/app/teams', notice: { kind: 'good', text: 'Welcome to the team.' } };
    },
    onError: (_visit, { message }) => Promise.resolve({ to: '/app/invitations', notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/invitations/:invitation_id/decline',
    access: 'invitation.accept',
    params: InvitationParams,
    async handle({ ctx, params }) {
      await declineInvitation(ctx, params.invitation_id);
      return { to: '/app/invitations', notice: { kind: 'good', text: 'Invitation declined.' } };
    },
    onError: (_visit, { message }) => Promise.resolve({ to: '/app/invitations', notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/invitations/:invitation_id/revoke',
    access: 'member.manage',
    params: TeamInvitationParams,
    async handle({ ctx, params }) {
      await revokeInvitation(ctx, params.team_id, params.invitation_id);
      return { to: `/app/teams/${params.team_id}`, notice: { kind: 'good', text: 'Invitation revoked.' } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: `/app/teams/${params.team_id}`, notice: { kind: 'bad', text: message } }),
  }),
];
