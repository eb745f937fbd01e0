import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { Impersonate, Impersonation, StoppedImpersonation } from './schema.js';
import { startImpersonation } from './start-impersonation.js';
import { stopImpersonation } from './stop-impersonation.js';

const tag = 'Admin';

export const impersonationRoutes: Endpoint[] = [
  endpoint({
    id: 'startImpersonation',
    method: 'post',
    path: '/api/admin/impersonate',
    tag,
    summary: 'Start impersonation',
    description:
      'Lasts 30 minutes and cannot be renewed. Every response has `X-Impersonated-By`, audit entries carry both names, and the user is emailed afterwards. Changes that outlast the impersonation are a 403: tokens, passwords, sessions, roles, invitations, secrets, connections, repository bindings, automations and their runs, approvals, recurring tasks, new teams. Admin routes are a 403 too.',
    ability: 'instance.admin',
    body: Impersonate,
    response: Impersonation,
    errors: [404],
    storable: false,
    example: { user_id: '019a9f00-0000-7000-8000-000000000001', reason: 'Ticket 4711: cannot see their own project' },
    handle: ({ ctx, body }) => startImpersonation(ctx, body),
  }),
  endpoint({
    id: 'stopImpersonation',
    method: 'post',
    path: '/api/admin/impersonate/stop',
    tag,
    summary: 'Stop impersonation',
    description: 'Takes the token of the impersonation and ends it immediately.',
    ability: 'impersonation.stop',
    response: StoppedImpersonation,
    errors: [409],
    storable: false,
    async handle({ ctx }) {
      await stopImpersonation(ctx);
      return { success: true };
    },
  }),
];
