import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { addMember } from './add-member.js';
import { changeRole } from './change-role.js';
import { createTeam } from './create-team.js';
import { deleteTeam } from './delete-team.js';
import { getTeam } from './get-team.js';
import { Invitation } from './invitations/schema.js';
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
/** No scope of the contract names changes of teams. */
const writeScope = 'admin:*';

const ofTeams: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/teams',
    tag,
    summary: 'List the caller’s teams',
    ability: 'team.list',
    scope,
    response: z.array(TeamRecord),
    handle: ({ ctx }) => readOwnTeams(ctx),
  }),
  endpoint({
    method: 'post',
    path: '/api/teams',
    tag,
    summary: 'Create a team',
    description: 'The caller becomes its first member and admin; the people of `member_ids` join as members.',
    ability: 'team.create',
    scope: writeScope,
    body: CreateTeam,
    response: CreatedTeam,
    status: 201,
    example: { name: 'Acme', description: 'Rockets and anvils', member_ids: ['019a9f00-0000-7000-8000-000000000001'] },
    handle: ({ ctx, body }) => createTeam(ctx, body),
  }),
  endpoint({
    method: 'get',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Read a team',
    ability: 'team.read',
    scope,
    params: TeamParams,
    response: TeamRecord,
    errors: [404],
    handle: ({ ctx, params }) => getTeam(ctx, params.team_id),
  }),
  endpoint({
    method: 'patch',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Rename or describe a team',
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
    method: 'delete',
    path: '/api/teams/:team_id',
    tag,
    summary: 'Delete a team',
    description:
      'For good: seats are given up, automations end, repositories are unbound. Refused with 409 while the team has live projects; what it has in the trash is purged when its time is over.',
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
    method: 'get',
    path: '/api/teams/:team_id/conversations',
    tag,
    summary: 'List a team’s conversations',
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
    method: 'get',
    path: '/api/teams/:team_id/members',
    tag,
    summary: 'List a team’s members',
    ability: 'team.read',
    scope,
    params: TeamParams,
    response: z.array(Member),
    errors: [404],
    handle: ({ ctx, params }) => listMembers(ctx, params.team_id),
  }),
  endpoint({
    method: 'post',
    path: '/api/teams/:team_id/members',
    tag,
    summary: 'Add a member, or invite an address',
    description:
      'By `user_id` the person is a member at once. An `email` is always invited, and the answer is the same whether or not the address has an account: an invitation, `pending` for seven days, that the person accepts in the web app or with `POST /api/invitations/{invitation_id}/accept`. At most 100 are pending in a team, and a person sends 200 a day; one address is mailed five a day and finds others in the app.',
    ability: 'member.manage',
    scope: writeScope,
    params: TeamParams,
    body: AddMember,
    response: z.union([Member, Invitation]),
    status: 201,
    errors: [404, 409],
    example: { email: 'uma@demo.test', role: 'member' },
    handle: ({ ctx, params, body }) => addMember(ctx, params.team_id, body),
  }),
  endpoint({
    method: 'patch',
    path: '/api/teams/:team_id/members/:user_id',
    tag,
    summary: 'Change a member’s role',
    description: 'The last admin keeps the role (409).',
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
    method: 'delete',
    path: '/api/teams/:team_id/members/:user_id',
    tag,
    summary: 'Remove a member, or leave',
    description: 'The person’s open tasks lose their assignee. The last admin stays (409).',
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
