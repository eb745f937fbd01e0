import { z } from 'zod';
import { acceptInvitation } from '../../../identity/teams/invitations/accept-invitation.js';
import { declineInvitation } from '../../../identity/teams/invitations/decline-invitation.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { revokeInvitation } from '../../../identity/teams/invitations/revoke-invitation.js';
import { InvitationParams, TeamInvitationParams } from '../../../identity/teams/invitations/schema.js';
import { readLinkedInvitation } from '../../../identity/teams/invitations/invitation-link.js';
import { page, type Page } from '../../page.js';

/** Invitations per page. */
export const SHOWN = { limit: 100, offset: 0 };

const Key = z.object({ key: z.string().max(100).catch('') });

/** The page that an invitation's email leads to, before and after signing in. It grants nothing: the address of the signed-in user decides. */
const linkPage = page({
  method: 'get',
  path: '/app/invitations/:invitation_id',
  access: 'anyone',
  params: InvitationParams,
  query: Key,
  async handle({ ctx, me, params: { invitation_id }, query: { key } }) {
    const invitation = await readLinkedInvitation(ctx, invitation_id, key);
    const own = me && invitation ? await listOwnInvitations(ctx, SHOWN) : [];
    const data = {
      invitation,
      here: `/app/invitations/${invitation_id}?key=${encodeURIComponent(key)}`,
      isMine: own.some((each) => each.invitation_id === invitation_id),
      isMember: me?.teams.some(({ team_id }) => team_id === invitation?.team_id) ?? false,
    };
    const title = invitation ? `Invitation to ${invitation.team_name}` : 'Invitation';
    return { view: 'teams/invitation-link', title, data, ...(!invitation && { status: 404 }) };
  },
});

export const invitationPages: Page[] = [
  linkPage,
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
      const own = await listOwnInvitations(ctx, SHOWN);
      await acceptInvitation(ctx, params.invitation_id);
      const team = own.find(({ invitation_id }) => invitation_id === params.invitation_id);
      return { to: team ? `/app/teams/${team.team_id}` : '/app/teams', notice: { kind: 'good', text: 'Welcome to the team.' } };
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
