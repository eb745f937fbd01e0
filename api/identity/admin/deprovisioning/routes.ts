import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { UserParams } from '../schema.js';
import { getDeprovisionJob } from './get-job.js';
import { requestDeprovision } from './request-deprovision.js';
import { Deprovision, Job, JobParams, JobRef } from './schema.js';

const tag = 'Admin';
const ability = 'instance.admin';

export const deprovisioningRoutes: Endpoint[] = [
  endpoint({
    id: 'deprovisionUser',
    method: 'post',
    path: '/api/admin/users/:user_id/deprovision',
    tag,
    summary: 'Deprovision a user',
    description:
      'The user can no longer sign in. A workflow then revokes their tokens, ends their sessions, disables their automations, removes them from all teams, reassigns their open tasks, and notifies other approvers. The last admin of a team needs `reassign_to` (409).',
    ability,
    params: UserParams,
    body: Deprovision,
    response: JobRef,
    status: 202,
    errors: [404, 409],
    example: { reason: 'Left the company', reassign_to: '019a9f00-0000-7000-8000-000000000001' },
    handle: ({ ctx, params, body }) => requestDeprovision(ctx, params.user_id, body),
  }),
  endpoint({
    id: 'getDeprovisionJob',
    method: 'get',
    path: '/api/admin/deprovisions/:job_id',
    tag,
    summary: 'Get a deprovision job',
    ability,
    params: JobParams,
    response: Job,
    errors: [404],
    handle: ({ ctx, params }) => getDeprovisionJob(ctx, params.job_id),
  }),
];
