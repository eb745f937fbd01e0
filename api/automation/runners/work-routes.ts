import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import type { RunnerIdentity } from '../../platform/access/actor.js';
import type { Context } from '../../platform/context.js';
import { unauthenticated } from '../../platform/errors.js';
import { claimRunnerJob } from './claim/claim-job.js';
import { completeJob } from './jobs/complete-job.js';
import { heartbeat } from './jobs/heartbeat.js';
import { appendLog } from './logs/append-log.js';
import { runnerTokenIn } from './registration/authenticate-runner.js';
import { registerRunner } from './registration/register-runner.js';
import {
  AppendedLog,
  AppendLog,
  ClaimedJob,
  ClaimJob,
  CompletedJob,
  CompleteJob,
  Heartbeat,
  JobParams,
  MAX_CHUNK_BYTES,
  RegisteredRunner,
  RegisterRunner,
} from './schema.js';

const work = { tag: 'Runners', ability: 'runner.work', method: 'post', storable: false } as const;

/** JSON can write a byte of a text as six. */
const CHUNK_BODY_BYTES = 6 * MAX_CHUNK_BYTES + 1_024;

/** Returns the runner of a request, and its token. */
function requireRunner({ actor }: Context, authorization: string | undefined): { runner: RunnerIdentity; token: string } {
  const token = runnerTokenIn(authorization);
  if (actor.type !== 'system' || !actor.runner || token === undefined) throw unauthenticated();
  return { runner: actor.runner, token };
}

/** The routes that runners call, with their own tokens. */
export const runnerWorkRoutes: Endpoint[] = [
  endpoint({
    id: 'registerRunner',
    method: 'post',
    path: '/api/runners/register',
    tag: 'Runners',
    ability: 'public',
    summary: 'Register a runner',
    description: 'The registration token is the credential, and is used up. Only this response contains the runner’s own token.',
    body: RegisterRunner,
    example: { token: 'svc_reg_…', name: 'build-1', labels: ['linux', 'x64'], version: '0.1.0' },
    response: RegisteredRunner,
    status: 201,
    errors: [401, 409],
    storable: false,
    handle: ({ ctx, body }) => registerRunner(ctx, body),
  }),
  endpoint({
    ...work,
    id: 'claimRunnerJob',
    path: '/api/runners/claim',
    summary: 'Claim a job',
    description:
      'Waits up to `wait_seconds` for a job of which the runner has all labels; 204 without one. 409 with `job_id` while the runner holds a job.',
    body: ClaimJob,
    example: { wait_seconds: 25 },
    response: ClaimedJob,
    alsoStatus: [204],
    errors: [409, 429],
    async handle({ ctx, body, headers, onHangUp }) {
      const asking = { ...requireRunner(ctx, headers.authorization), version: body.version };
      const job = await claimRunnerJob(ctx, { ...asking, waitSeconds: body.wait_seconds, onHangUp });
      return job ?? new Reply(null, { status: 204 });
    },
  }),
  endpoint({
    ...work,
    id: 'reportRunnerHeartbeat',
    path: '/api/runners/jobs/:job_id/heartbeat',
    summary: 'Report that a job runs',
    description: 'Renews the lease. `cancel`: stop the command, send the rest of the log, and complete the job.',
    params: JobParams,
    response: Heartbeat,
    errors: [404, 409],
    handle: ({ ctx, params, headers }) => heartbeat(ctx, params.job_id, requireRunner(ctx, headers.authorization).runner),
  }),
  endpoint({
    ...work,
    id: 'appendRunnerJobLog',
    path: '/api/runners/jobs/:job_id/logs',
    summary: 'Append to the log of a job',
    description:
      'A repeated chunk is a 200, a gap a 409 with `expected_offset`. Values of secrets are masked, also when they are split over chunks. A log ends at 5 MB: then `truncated` is true, and further chunks are a 413.',
    params: JobParams,
    body: AppendLog,
    bodyLimit: CHUNK_BODY_BYTES,
    example: { chunk: 'make: Nothing to be done for deploy.\n', offset: 0 },
    response: AppendedLog,
    errors: [404, 409],
    handle: ({ ctx, params, headers, body }) => appendLog(ctx, params.job_id, requireRunner(ctx, headers.authorization), body),
  }),
  endpoint({
    ...work,
    id: 'completeRunnerJob',
    path: '/api/runners/jobs/:job_id/complete',
    summary: 'Complete a job',
    description:
      'The first report counts; the same one again gets the same answer. `output` is masked and available to the automation.',
    params: JobParams,
    body: CompleteJob,
    example: { status: 'succeeded', exit_code: 0, output: 'Deployed build 1234' },
    response: CompletedJob,
    errors: [404, 409],
    handle: ({ ctx, params, headers, body }) => completeJob(ctx, params.job_id, requireRunner(ctx, headers.authorization), body),
  }),
];
