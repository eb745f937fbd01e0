import { ADA, AT, TEAM_ID } from './people.js';

const RUNNER_ID = '019a9f00-0000-7000-8000-000000000091';
const JOB_ID = '019a9f00-0000-7000-8000-000000000092';

const job = {
  job_id: JOB_ID,
  team_id: TEAM_ID,
  runner_id: RUNNER_ID,
  runner_name: 'build-1',
  run_id: null,
  status: 'succeeded',
  labels: ['linux'],
  timeout_minutes: 30,
  attempts: 1,
  cancel_requested: false,
  created_by: ADA,
  queued_at: AT,
  started_at: AT,
  finished_at: AT,
  exit_code: 0,
  error: null,
};

/** Example responses about runners and their jobs. */
export const RUNNERS: Record<string, unknown> = {
  RunnerRegistrationToken: { token: 'svc_reg_…', expires_at: AT },
  RegisteredRunner: {
    runner_id: RUNNER_ID,
    runner_token: 'svc_run_…',
    team_id: TEAM_ID,
    name: 'build-1',
    labels: ['linux', 'x64'],
  },
  Runner: {
    runner_id: RUNNER_ID,
    team_id: TEAM_ID,
    name: 'build-1',
    labels: ['linux', 'x64'],
    status: 'online',
    version: '0.1.0',
    last_seen_at: AT,
    created_at: AT,
    job_id: null,
  },
  DeletedRunner: { success: true, runner_id: RUNNER_ID },
  RunnerJob: job,
  RunnerJobDetail: {
    ...job,
    command: 'make deploy',
    env: { TARGET: 'staging' },
    output: 'Deployed build 1234',
    log_size: 36,
  },
  RunnerJobLog: {
    job_id: JOB_ID,
    offset: 0,
    text: 'make: Nothing to be done for deploy.',
    next_offset: 36,
    size: 36,
    truncated: false,
    deleted: false,
    complete: true,
  },
  ClaimedRunnerJob: {
    job_id: JOB_ID,
    command: 'make deploy',
    env: { TARGET: 'staging' },
    masked: [],
    labels: ['linux'],
    timeout_seconds: 1800,
    lease_seconds: 60,
    heartbeat_seconds: 15,
  },
  RunnerHeartbeat: { job_id: JOB_ID, status: 'running', cancel: false, lease_expires_at: AT },
  AppendedRunnerJobLog: { next_offset: 36, truncated: false, cancel: false },
  CompletedRunnerJob: { job_id: JOB_ID, status: 'succeeded' },
};
