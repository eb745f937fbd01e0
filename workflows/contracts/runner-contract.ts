/** Names and shapes of the workflow of a runner's job. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start or wake the workflow of a runner's job. Written by database triggers. */
    'runner.job': { job_id: string };
  }
}

/** Workflow type that watches the clocks of a job. */
export const RUNNER_JOB = 'runnerJob';
export const runnerJobWorkflowId = (jobId: string): string => `job:${jobId}`;
/** Only wakes the workflow, which reads the row again. */
export const JOB_CHANGED_SIGNAL = 'jobChanged';

export interface RunnerJobInput extends Searchable {
  jobId: string;
  /** Rounds before the workflow continues as new; fewer in tests. */
  rounds?: number;
}

/** State of a job after it was ended if its time was over. Ids, counts, dates and codes only. */
export interface RunnerJobView {
  /** `gone`: there is no such job. */
  state: 'queued' | 'claimed' | 'running' | 'succeeded' | 'failed' | 'lost' | 'cancelled' | 'timed_out' | 'gone';
  /** The next moment at which a clock of the job is over, UTC; null if it has ended. */
  dueAt: string | null;
  /** Milliseconds until then by the database's clock. */
  msLeft: number;
  exitCode: number | null;
  /** Code of a reason other than its command. */
  reason: string | null;
}

export interface RunnerJobActivities {
  /** Ends the job if its deadline has passed. May be repeated. */
  settleRunnerJob(jobId: string): Promise<RunnerJobView>;
}
