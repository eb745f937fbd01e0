import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { countUsers, listUsers } from './list-users.js';
import { reinstateUser } from './reinstate-user.js';
import { AdminUser, ListUsers, Suspend, SwitchPlan, TeamParams, TeamPlan, UserParams, UserStatus } from './schema.js';
import { suspendUser } from './suspend-user.js';
import { changePlan } from './change-plan.js';
import { unlockUser } from './unlock-user.js';

const tag = 'Admin';
const ability = 'instance.admin';

export const adminRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/admin/users',
    tag,
    summary: 'List everybody with an account',
    ability,
    query: ListUsers,
    response: z.array(AdminUser),
    pages: { total: ({ ctx, query }) => countUsers(ctx, query) },
    handle: ({ ctx, query }) => listUsers(ctx, query),
  }),
  endpoint({
    method: 'post',
    path: '/api/admin/users/:user_id/suspend',
    tag,
    summary: 'Keep somebody out',
    description: 'From the next request on: sessions end, tokens rest until the person is reinstated.',
    ability,
    params: UserParams,
    body: Suspend,
    response: UserStatus,
    errors: [404, 409],
    example: { reason: 'Lost laptop' },
    handle: ({ ctx, params, body }) => suspendUser(ctx, params.user_id, body.reason),
  }),
  endpoint({
    method: 'post',
    path: '/api/admin/users/:user_id/reinstate',
    tag,
    summary: 'Let somebody in again',
    ability,
    params: UserParams,
    response: UserStatus,
    errors: [404, 409],
    handle: ({ ctx, params }) => reinstateUser(ctx, params.user_id),
  }),
  endpoint({
    method: 'post',
    path: '/api/admin/users/:user_id/unlock',
    tag,
    summary: 'End the lock after failed sign-ins',
    ability,
    params: UserParams,
    response: UserStatus,
    errors: [404],
    handle: ({ ctx, params }) => unlockUser(ctx, params.user_id),
  }),
  endpoint({
    method: 'put',
    path: '/api/admin/teams/:team_id/plan',
    tag,
    summary: 'Put a team on another plan',
    ability,
    params: TeamParams,
    body: SwitchPlan,
    response: TeamPlan,
    errors: [404],
    example: { plan: 'scale' },
    handle: ({ ctx, params, body }) => changePlan(ctx, params.team_id, body.plan),
  }),
];
