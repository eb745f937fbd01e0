import { z } from 'zod';

const count = (fallback: number, max: number) => z.coerce.number().int().min(1).max(max).default(fallback);

/** Settings of runners and their jobs. */
export const runnerSettings = {
  RUNNER_LEASE_SECONDS: count(60, 3_600).describe('A runner that reports nothing for this time has lost its job'),
  RUNNER_HEARTBEAT_SECONDS: count(15, 3_600).describe('Interval of the reports that runners are asked for'),
  RUNNER_CANCEL_SECONDS: count(60, 3_600).describe('A job that its runner has not stopped by then counts as cancelled'),
  RUNNER_QUEUE_SECONDS: count(86_400, 2_592_000).describe('A job that no runner takes in this time is timed out'),
  RUNNERS_PER_TEAM: count(500, 10_000).describe('Registered runners of a team, each of which may wait for a job'),
  RUNNER_JOBS_PER_TEAM: count(1_000, 100_000).describe('Jobs of a team that have not ended'),
  RUNNER_LOG_MB_PER_TEAM: count(5_120, 1_048_576).describe('Logs of a team’s jobs together, MiB'),
};

/** Limits that runners rely on. */
export const RUNNER_LIMITS = ['RUNNER_LEASE_SECONDS', 'RUNNER_HEARTBEAT_SECONDS'] as const;
