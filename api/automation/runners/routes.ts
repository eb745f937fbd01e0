import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { cancelRunnerJob } from './jobs/cancel-job.js';
import { createRunnerJob } from './jobs/create-job.js';
import { getRunnerJob } from './jobs/get-job.js';
import { listRunnerJobs } from './jobs/list-jobs.js';
import { readLog } from './logs/read-log.js';
import { JobRecord } from './record/job-schema.js';
import { createRegistrationToken } from './registration/create-registration-token.js';
import { deleteRunner } from './registration/delete-runner.js';
import { listRunners } from './registration/list-runners.js';
import {
  CreateJob,
  CreateRegistrationToken,
  DeletedRunner,
  JobDetail,
  JobParams,
  ListJobs,
  ListRunners,
  LogPage,
  ReadLog,
  RegistrationToken,
  RunnerParams,
  RunnerRecord,
} from './schema.js';

const read = { tag: 'Runners', ability: 'runner.read', scope: 'automations:read' } as const;
const write = { tag: 'Runners', ability: 'runner_job.write', scope: 'automations:write' } as const;
const manage = { tag: 'Runners', ability: 'runner.manage', scope: 'admin:*' } as const;

const TEAM = '019a9f00-0000-7000-8000-000000000003';

const runners: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listRunners',
    method: 'get',
    path: '/api/runners',
    summary: 'List runners',
    description: 'Oldest first.',
    query: ListRunners,
    response: z.array(RunnerRecord),
    errors: [404],
    handle: ({ ctx, query }) => listRunners(ctx, query),
  }),
  endpoint({
    ...manage,
    id: 'createRunnerRegistrationToken',
    method: 'post',
    path: '/api/runners/registration-tokens',
    summary: 'Create a registration token',
    description: 'It registers one runner within an hour. Only this response contains the token.',
    body: CreateRegistrationToken,
    example: { team_id: TEAM },
    response: RegistrationToken,
    status: 201,
    errors: [404, 409],
    storable: false,
    handle: ({ ctx, body }) => createRegistrationToken(ctx, body.team_id),
  }),
  endpoint({
    ...manage,
    id: 'deleteRunner',
    method: 'delete',
    path: '/api/runners/:runner_id',
    summary: 'Delete a runner',
    description: 'Its token is invalid at once. The job that it holds is `lost`.',
    params: RunnerParams,
    response: DeletedRunner,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteRunner(ctx, params.runner_id);
      return { success: true, runner_id: params.runner_id };
    },
  }),
];

const jobs: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listRunnerJobs',
    method: 'get',
    path: '/api/runners/jobs',
    summary: 'List runner jobs',
    description: 'Newest first.',
    query: ListJobs,
    response: z.array(JobRecord),
    errors: [404],
    handle: ({ ctx, query }) => listRunnerJobs(ctx, query),
  }),
  endpoint({
    ...write,
    id: 'createRunnerJob',
    method: 'post',
    path: '/api/runners/jobs',
    summary: 'Queue a runner job',
    description:
      'The oldest job goes to the first runner of the team that has all its labels. It runs once at most: a job whose runner stops reporting is `lost`. A reference to a secret is a 400: only automations can give secrets to a job.',
    body: CreateJob,
    example: { team_id: TEAM, command: 'make deploy', env: { TARGET: 'staging' }, labels: ['linux'], timeout_minutes: 30 },
    response: JobRecord,
    status: 201,
    errors: [404, 409],
    handle: ({ ctx, body }) => createRunnerJob(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getRunnerJob',
    method: 'get',
    path: '/api/runners/jobs/:job_id',
    summary: 'Get a runner job',
    params: JobParams,
    response: JobDetail,
    errors: [404],
    handle: ({ ctx, params }) => getRunnerJob(ctx, params.job_id),
  }),
  endpoint({
    ...read,
    id: 'readRunnerJobLog',
    method: 'get',
    path: '/api/runners/jobs/:job_id/logs',
    summary: 'Read the log of a runner job',
    description: 'At most 256 kB from `offset` on. Ask again with `next_offset` until `complete`.',
    params: JobParams,
    query: ReadLog,
    response: LogPage,
    errors: [404],
    handle: ({ ctx, params, query }) => readLog(ctx, params.job_id, query),
  }),
  endpoint({
    ...write,
    id: 'cancelRunnerJob',
    method: 'post',
    path: '/api/runners/jobs/:job_id/cancel',
    summary: 'Cancel a runner job',
    description:
      'A job that waits ends at once. Otherwise its runner is told with its next report; the job is `cancelled` when the runner confirms, or after a minute.',
    params: JobParams,
    response: JobRecord,
    errors: [404, 409],
    handle: ({ ctx, params }) => cancelRunnerJob(ctx, params.job_id),
  }),
];

/** The routes of people. Those of the runners themselves are in work-routes.ts. */
export const runnerRoutes: Endpoint[] = [...runners, ...jobs];
