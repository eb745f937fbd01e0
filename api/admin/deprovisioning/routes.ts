import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { UserParams } from '../schema.js';
import { getJob } from './get-job.js';
import { requestDeprovision } from './request-deprovision.js';
import { Deprovision, Job, JobParams, JobRef } from './schema.js';

const tag = 'Admin';
const ability = 'instance.admin';

export const deprovisioningRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/admin/users/:user_id/deprovision',
    tag,
    summary: 'Take somebody out for good',
    description:
      'Nothing signs in as them from now on. A workflow then revokes their tokens, ends their sessions, switches their automations off, takes their seats, hands their open tasks on, and asks others to decide what waits for them. The last admin of a team needs `reassign_to` (409).',
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
    method: 'get',
    path: '/api/admin/deprovisions/:job_id',
    tag,
    summary: 'How far somebody’s leaving is',
    ability,
    params: JobParams,
    response: Job,
    errors: [404],
    handle: ({ ctx, params }) => getJob(ctx, params.job_id),
  }),
];
