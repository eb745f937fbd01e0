import { ChangeRequest, RequestPath } from '../../gate/requests/schema.js';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { askForChange } from './ask.js';
import { readResult } from './read-result.js';
import { CreateRequest, RequestResult } from './schema.js';

const tag = 'Change requests';

export const askRoutes: Endpoint[] = [
  endpoint({
    id: 'createChangeRequest',
    method: 'post',
    path: '/api/change-requests',
    tag,
    summary: 'Ask for a yes to exactly these operations',
    description:
      'People read the operations whole and approve them by their hash; then the requester redeems the approval, once, and executes what the redemption returns. With `http`, Assent sends the request itself after the yes, at most once. Rules of the team say who must approve; `requirement` only raises that. The body must be JSON that every program reads alike: no member twice, no number that a double does not hold.',
    ability: 'request.create',
    scope: 'requests:create',
    scopeEnforced: true,
    limit: 'request_create',
    body: CreateRequest,
    exactJson: true,
    response: ChangeRequest,
    status: 201,
    errors: [404, 409],
    example: {
      team_id: '0197a000-0000-7000-8000-000000000003',
      title: 'Release 4.2',
      reason: 'The fix of the sign-in',
      operation: { system: 'payments', name: 'deploy', target: 'production', arguments: { version: '4.2' } },
    },
    handle: ({ ctx, body }) => askForChange(ctx, body),
  }),
  endpoint({
    id: 'getChangeRequestResult',
    method: 'get',
    path: '/api/change-requests/:request_id/result',
    tag,
    summary: 'Get what the other server answered',
    description: 'Of a request that Assent performed, for its requester. Kept for seven days; secrets are replaced.',
    ability: 'request.use',
    scope: 'requests:read',
    scopeEnforced: true,
    params: RequestPath,
    response: RequestResult,
    errors: [404],
    handle: ({ ctx, params }) => readResult(ctx, params.request_id),
  }),
];
