import { z } from 'zod';
import { JOB_STATUSES } from '../../../db/models/runner-job.js';
import { ClampedInt, Id, Timestamp, Title, TrimmedText } from '../../platform/fields.js';
import { byCursor, byOffset } from '../../platform/endpoint/pages.js';
import { Command, DEFAULT_TIMEOUT_MINUTES, Env, jobFields, Labels, TimeoutMinutes } from './record/job-schema.js';

const RunnerName = Title(100);
const Version = TrimmedText(100).meta({ description: 'Version of the runner’s program', example: '0.1.0' });
const MAX_OUTPUT_BYTES = 65_536;
/** Largest part of a log in one request, in bytes. */
export const MAX_CHUNK_BYTES = 65_536;
/** Longest wait for a job in one request, seconds. */
const MAX_WAIT_SECONDS = 25;

export const RunnerParams = z.object({ runner_id: Id });
export const JobParams = z.object({ job_id: Id });

export const CreateRegistrationToken = z.object({ team_id: Id }).meta({ id: 'CreateRunnerRegistrationToken' });
export const RegistrationToken = z
  .object({
    token: z.string().meta({ description: 'Registers one runner; only in this response', example: 'svc_reg_…' }),
    expires_at: Timestamp,
  })
  .meta({ id: 'RunnerRegistrationToken' });
export type RegistrationToken = z.output<typeof RegistrationToken>;

export const RegisterRunner = z
  .object({
    token: z.string().max(200).meta({ description: 'A registration token' }),
    name: RunnerName,
    labels: Labels,
    version: Version,
  })
  .meta({ id: 'RegisterRunner' });
export type RegisterRunner = z.output<typeof RegisterRunner>;

export const RegisteredRunner = z
  .object({
    runner_id: z.string(),
    runner_token: z.string().meta({ description: 'Credential of the runner; only in this response', example: 'svc_run_…' }),
    team_id: z.string(),
    name: z.string(),
    labels: z.array(z.string()),
  })
  .meta({ id: 'RegisteredRunner' });
export type RegisteredRunner = z.output<typeof RegisteredRunner>;

export const ListRunners = z.object({
  team_id: Id,
  ...byOffset(),
});
export type ListRunners = z.output<typeof ListRunners>;

export const RunnerRecord = z
  .object({
    runner_id: z.string(),
    team_id: z.string(),
    name: z.string(),
    labels: z.array(z.string()),
    status: z.enum(['online', 'offline', 'busy']).meta({ description: '`busy`: it holds a job; `online`: it reported lately' }),
    version: z.string(),
    last_seen_at: Timestamp.nullable(),
    created_at: Timestamp,
    job_id: z.string().nullable().meta({ description: 'The job that it holds' }),
  })
  .meta({ id: 'Runner' });
export type RunnerRecord = z.output<typeof RunnerRecord>;

export const DeletedRunner = z.object({ success: z.literal(true), runner_id: z.string() }).meta({ id: 'DeletedRunner' });

export const ListJobs = z.object({
  team_id: Id,
  status: z.enum(JOB_STATUSES).optional(),
  ...byCursor('job_id'),
});
export type ListJobs = z.output<typeof ListJobs>;

export const CreateJob = z
  .object({
    team_id: Id,
    command: Command,
    env: Env.nullish().meta({ description: 'Variables of the command', example: { TARGET: 'staging' } }),
    labels: Labels.default([]).meta({ description: 'A runner with all of them takes the job; none: any runner of the team' }),
    timeout_minutes: TimeoutMinutes.default(DEFAULT_TIMEOUT_MINUTES),
  })
  .meta({ id: 'CreateRunnerJob' });
export type CreateJob = z.output<typeof CreateJob>;

export const JobDetail = z
  .object({
    ...jobFields,
    command: z.string(),
    env: z.record(z.string(), z.string()).meta({ description: 'As given; references to secrets are not filled in' }),
    output: z.string().nullable().meta({ description: 'What the command left as its result, secrets masked' }),
    log_size: z.int().meta({ description: 'Bytes of the log' }),
  })
  .meta({ id: 'RunnerJobDetail' });
export type JobDetail = z.output<typeof JobDetail>;

export const ReadLog = z.object({
  offset: ClampedInt(0, Number.MAX_SAFE_INTEGER, 0).meta({ description: 'Bytes of the log to leave out' }),
});
export type ReadLog = z.output<typeof ReadLog>;
export const LogPage = z
  .object({
    job_id: z.string(),
    offset: z.int(),
    text: z.string().meta({ description: 'At most 256 kB, secrets masked' }),
    next_offset: z.int().meta({ description: 'Where to go on reading' }),
    size: z.int().meta({ description: 'Bytes of the log so far' }),
    truncated: z.boolean().meta({ description: 'The log was longer than the service keeps' }),
    deleted: z.boolean().meta({ description: 'Newer logs of the team needed the room of this one' }),
    complete: z.boolean().meta({ description: 'The job has ended, and this page reaches the end of its log' }),
  })
  .meta({ id: 'RunnerJobLog' });
export type LogPage = z.output<typeof LogPage>;

export const ClaimJob = z
  .object({
    wait_seconds: z
      .number()
      .min(0)
      .overwrite((seconds) => Math.min(seconds, MAX_WAIT_SECONDS))
      .default(MAX_WAIT_SECONDS)
      .meta({ description: `How long to wait for a job; more than ${MAX_WAIT_SECONDS} counts as ${MAX_WAIT_SECONDS}` }),
    version: Version.optional(),
  })
  .meta({ id: 'ClaimRunnerJob' });
export type ClaimJob = z.output<typeof ClaimJob>;

export const ClaimedJob = z
  .object({
    job_id: z.string(),
    command: z.string(),
    env: z.record(z.string(), z.string()).meta({ description: 'Secrets filled in' }),
    masked: z.array(z.string()).meta({ description: 'Names of variables that hold a secret' }),
    labels: z.array(z.string()),
    timeout_seconds: z.int(),
    lease_seconds: z.int().meta({ description: 'Without a report for this time the job is lost' }),
    heartbeat_seconds: z.int(),
  })
  .meta({ id: 'ClaimedRunnerJob' });
export type ClaimedJob = z.output<typeof ClaimedJob>;

export const Heartbeat = z
  .object({
    job_id: z.string(),
    status: z.enum(['running']),
    cancel: z.boolean().meta({ description: 'Someone cancelled the job: stop the command and complete the job' }),
    lease_expires_at: Timestamp,
  })
  .meta({ id: 'RunnerHeartbeat' });
export type Heartbeat = z.output<typeof Heartbeat>;

const isWithin = (most: number) => (text: string) => Buffer.byteLength(text) <= most;

export const AppendLog = z
  .object({
    chunk: z.string().min(1).refine(isWithin(MAX_CHUNK_BYTES), `must have at most ${MAX_CHUNK_BYTES} bytes`),
    offset: z.int().min(0).meta({ description: 'Bytes of UTF-8 sent before, by the runner’s own count' }),
  })
  .meta({ id: 'AppendRunnerJobLog' });
export type AppendLog = z.output<typeof AppendLog>;

export const AppendedLog = z
  .object({
    next_offset: z.int(),
    truncated: z.boolean().meta({ description: 'The log is full: further chunks are refused' }),
    cancel: z.boolean(),
  })
  .meta({ id: 'AppendedRunnerJobLog' });
export type AppendedLog = z.output<typeof AppendedLog>;

const MAX_INT = 2_147_483_647;
export const CompleteJob = z
  .object({
    status: z.enum(['succeeded', 'failed']),
    exit_code: z.int().min(-MAX_INT).max(MAX_INT).nullish(),
    output: z.string().refine(isWithin(MAX_OUTPUT_BYTES), `must have at most ${MAX_OUTPUT_BYTES} bytes`).nullish(),
  })
  .meta({ id: 'CompleteRunnerJob' });
export type CompleteJob = z.output<typeof CompleteJob>;

export const CompletedJob = z
  .object({ job_id: z.string(), status: z.enum(['succeeded', 'failed', 'cancelled', 'timed_out']) })
  .meta({ id: 'CompletedRunnerJob' });
export type CompletedJob = z.output<typeof CompletedJob>;
