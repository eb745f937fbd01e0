import { z } from 'zod';
import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { addMember } from './add-member.js';
import { changeRole } from './change-role.js';
import { createTeam } from './create-team.js';
import { deleteTeam } from './delete-team.js';
import { getTeam } from './get-team.js';
import { Invitation, InvitedUser } from './invitations/schema.js';
import { listConversations } from './list-conversations.js';
import { listMembers } from './list-members.js';
import { readOwnTeams } from './read-team.js';
import { removeMember } from './remove-member.js';
import {
  AddMember,
  ChangeRole,
  Conversation,
  CreatedTeam,
  CreateTeam,
  DeletedTeam,
  Member,
  MemberParams,
  RemovedMember,
  TeamParams,
  TeamRecord,
  UpdateTeam,
} from './schema.js';
import { updateTeam } from './update-team.js';

const tag = 'Teams';
const scope = 'teams:read';
/** No narrower scope covers changes of teams. */
const writeScope = 'admin:*';

const ofTeams: Endpoint[] = [
  endpoint({
    id: 'listTeams',
    method: 'get',
    path: '/api/teams',
    tag,
    summary: 'List teams',
    ability: 'team.list',
    scope,
    response: z.array(TeamRecord),
    handle: ({ ctx }) => readOwnTeams(ctx),
  }),
  endpoint({
    id: 'createTeam',
    method: 'post',
    path: '/api/teams',
    tag,
    summary: 'Create a team',
    description:
      'The caller becomes the first admin; users in `member_ids` join as members and are told. Where the installation requires consent, those who share no team with the caller are invited instead. A user may have created a limited number of teams that still exist: beyond it 400 `QUOTA_EXCEEDED`.',
    ability: 'team.create',
    scope: writeScope,
    body: CreateTeam,
    response: CreatedTeam,
    status: 201,
    errors: [400],
    example: { name: 'Acme', description: 'Rockets and anvils', member_ids: ['019a9f00-0000-7000-8000-000000000001'] },
    handle: ({ ctx, body }) => createTeam(ctx, body),
  }),
  endpoint({
    id: 'getTeam',
    method: 'get',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Get a team',
    ability: 'team.read',
    scope,
    params: TeamParams,
    response: TeamRecord,
    errors: [404],
    handle: ({ ctx, params }) => getTeam(ctx, params.team_id),
  }),
  endpoint({
    id: 'updateTeam',
    method: 'patch',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Update a team',
    ability: 'team.write',
    scope: writeScope,
    params: TeamParams,
    body: UpdateTeam,
    response: TeamRecord,
    errors: [404],
    example: { description: 'Rockets, anvils and magnets' },
    handle: ({ ctx, params, body }) => updateTeam(ctx, params.team_id, body),
  }),
  endpoint({
    id: 'deleteTeam',
    method: 'delete',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Delete a team',
    description:
      'Permanent: memberships and automations end, repositories are unbound. 409 while the team has projects outside the trash; its trash is purged after 30 days.',
    ability: 'team.write',
    scope: writeScope,
    params: TeamParams,
    response: DeletedTeam,
    errors: [404, 409],
    async handle({ ctx, params }) {
      await deleteTeam(ctx, params.team_id);
      return { success: true, team_id: params.team_id };
    },
  }),
  endpoint({
    id: 'listConversations',
    method: 'get',
    path: '/api/teams/:team_id/conversations',
    tag,
    summary: 'List conversations of a team',
    ability: 'team.read',
    scope,
    params: TeamParams,
    response: z.array(Conversation),
    errors: [404],
    handle: ({ ctx, params }) => listConversations(ctx, params.team_id),
  }),
];

const ofMembers: Endpoint[] = [
  endpoint({
    id: 'listMembers',
    method: 'get',
    path: '/api/teams/:team_id/members',
    tag,
    summary: 'List members of a team',
    ability: 'team.read',
    scope,
    params: TeamParams,
    response: z.array(Member),
    errors: [404],
    handle: ({ ctx, params }) => listMembers(ctx, params.team_id),
  }),
  endpoint({
    id: 'addMember',
    method: 'post',
    path: '/api/teams/:team_id/members',
    tag,
    summary: 'Add or invite a member',
    description:
      'A `user_id` becomes a member immediately and is told, with a link to leave. Where the installation requires consent, a user who shares no team with the caller is invited: 202, without name or address. An `email` gets an invitation, whether or not it has an account: `pending` for seven days, accepted in the web app or with `POST /api/invitations/{invitation_id}/accept`. Limits: 100 pending invitations per team, 200 sent per user and day, and five emails per address and day, two of them by one user; further ones are shown in the app.',
    ability: 'member.manage',
    scope: writeScope,
    params: TeamParams,
    body: AddMember,
    response: z.union([Member, Invitation, InvitedUser]),
    status: 201,
    alsoStatus: [202],
    errors: [404, 409],
    example: { email: 'uma@demo.test', role: 'member' },
    async handle({ ctx, params, body }) {
      const added = await addMember(ctx, params.team_id, body);
      if ('member' in added) return added.member;
      const { invitation_id, user_id } = added.invited;
      return user_id === null ? added.invited : new Reply({ success: true, status: 'invited', invitation_id }, { status: 202 });
    },
  }),
  endpoint({
    id: 'updateMember',
    method: 'patch',
    path: '/api/teams/:team_id/members/:user_id',
    tag,
    summary: 'Change the role of a member',
    description: 'The last admin cannot lose the role (409).',
    ability: 'member.manage',
    scope: writeScope,
    params: MemberParams,
    body: ChangeRole,
    response: Member,
    errors: [404, 409],
    example: { role: 'manager' },
    handle: ({ ctx, params, body }) => changeRole(ctx, params.team_id, params.user_id, body.role),
  }),
  endpoint({
    id: 'removeMember',
    method: 'delete',
    path: '/api/teams/:team_id/members/:user_id',
    tag,
    summary: 'Remove a member',
    description:
      'Open tasks of the user become unassigned. Every member may remove themselves, guests too. The last admin cannot leave (409).',
    ability: 'member.remove',
    scope: writeScope,
    params: MemberParams,
    response: RemovedMember,
    errors: [404, 409],
    handle: async ({ ctx, params }) => ({
      success: true,
      removed: params.user_id,
      unassigned_tasks: await removeMember(ctx, params.team_id, params.user_id),
    }),
  }),
];

export const teamRoutes: Endpoint[] = [...ofTeams, ...ofMembers];
