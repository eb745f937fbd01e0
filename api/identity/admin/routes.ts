import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { countUsers, listUsers } from './list-users.js';
import { reinstateUser } from './reinstate-user.js';
import { AdminUser, ListUsers, Suspend, SwitchPlan, TeamParams, TeamPlan, UserParams, UserStatus } from './schema.js';
import { suspendUser } from './suspend-user.js';
import { changeBillingTier } from './change-billing-tier.js';
import { unlockUser } from './unlock-user.js';

const tag = 'Admin';
const ability = 'instance.admin';

export const adminRoutes: Endpoint[] = [
  endpoint({
    id: 'listUsers',
    method: 'get',
    path: '/api/admin/users',
    tag,
    summary: 'List users',
    ability,
    query: ListUsers,
    response: z.array(AdminUser),
    pages: { total: ({ ctx, query }) => countUsers(ctx, query) },
    handle: ({ ctx, query }) => listUsers(ctx, query),
  }),
  endpoint({
    id: 'suspendUser',
    method: 'post',
    path: '/api/admin/users/:user_id/suspend',
    tag,
    summary: 'Suspend a user',
    description: 'Takes effect with the next request: sessions end, and tokens are disabled until the user is reinstated.',
    ability,
    params: UserParams,
    body: Suspend,
    response: UserStatus,
    errors: [404, 409],
    example: { reason: 'Lost laptop' },
    handle: ({ ctx, params, body }) => suspendUser(ctx, params.user_id, body.reason),
  }),
  endpoint({
    id: 'reinstateUser',
    method: 'post',
    path: '/api/admin/users/:user_id/reinstate',
    tag,
    summary: 'Reinstate a user',
    ability,
    params: UserParams,
    response: UserStatus,
    errors: [404, 409],
    handle: ({ ctx, params }) => reinstateUser(ctx, params.user_id),
  }),
  endpoint({
    id: 'unlockUser',
    method: 'post',
    path: '/api/admin/users/:user_id/unlock',
    tag,
    summary: 'Unlock a user',
    ability,
    params: UserParams,
    response: UserStatus,
    errors: [404],
    handle: ({ ctx, params }) => unlockUser(ctx, params.user_id),
  }),
  endpoint({
    id: 'changePlan',
    method: 'put',
    path: '/api/admin/teams/:team_id/plan',
    tag,
    summary: 'Change a team’s plan',
    ability,
    params: TeamParams,
    body: SwitchPlan,
    response: TeamPlan,
    errors: [404],
    example: { plan: 'scale' },
    handle: ({ ctx, params, body }) => changeBillingTier(ctx, params.team_id, body.plan),
  }),
];
