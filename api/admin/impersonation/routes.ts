import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { Impersonate, Impersonation, Stopped } from './schema.js';
import { startImpersonation } from './start-impersonation.js';
import { stopImpersonation } from './stop-impersonation.js';

const tag = 'Admin';

export const impersonationRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/admin/impersonate',
    tag,
    summary: 'Act as somebody else',
    description:
      'For 30 minutes that nothing prolongs. Every answer carries `X-Impersonated-By`, every audit entry both names, and the person is mailed afterwards. Whatever would go on acting, or keep a right, after the impersonation is refused with 403: tokens, passwords, sign-ins, roles, invitations, secrets, connections, repository bindings, automations and their runs, approvals, recurrences of tasks, new teams. So is this area.',
    ability: 'instance.admin',
    body: Impersonate,
    response: Impersonation,
    errors: [404],
    storable: false,
    example: { user_id: '019a9f00-0000-7000-8000-000000000001', reason: 'Ticket 4711: cannot see their own project' },
    handle: ({ ctx, body }) => startImpersonation(ctx, body),
  }),
  endpoint({
    method: 'post',
    path: '/api/admin/impersonate/stop',
    tag,
    summary: 'Stop acting as somebody else',
    description: 'With the token of the impersonation, which ends at once.',
    ability: 'impersonation.stop',
    response: Stopped,
    errors: [409],
    storable: false,
    async handle({ ctx }) {
      await stopImpersonation(ctx);
      return { success: true };
    },
  }),
];
