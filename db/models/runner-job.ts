import { BaseModel } from './base.js';

/** States of a job; the first three are open. */
export const JOB_STATUSES = ['queued', 'claimed', 'running', 'succeeded', 'failed', 'lost', 'cancelled', 'timed_out'] as const;
export type RunnerJobStatus = (typeof JOB_STATUSES)[number];

/** A piece of a variable's value: text, or a secret that is filled in when a runner takes the job. */
export type EnvPiece = string | { secret: string };
export type StoredEnv = Record<string, EnvPiece[]>;

/** A command for a runner. */
export class RunnerJob extends BaseModel {
  static override readonly tableName = 'runner_jobs';
  static override readonly idColumn = 'job_id';

  static override get jsonAttributes(): string[] {
    return ['env'];
  }

  declare job_id: string;
  declare team_id: string;
  declare status: RunnerJobStatus;
  declare command: string;
  declare env: StoredEnv;
  declare labels: string[];
  declare timeout_minutes: number;
  declare created_by: string;
  /** The step of a run that waits for it. */
  declare run_id: string | null;
  declare action_index: number | null;
  declare action_attempt: number | null;
  /** Users who allowed its secrets. */
  declare secret_user_ids: string[];
  /** Users who caused it, besides its creator. */
  declare cause_user_ids: string[];
  declare depth: number;
  declare correlation_id: string;
  declare runner_id: string | null;
  declare runner_name: string | null;
  declare queued_at: Date;
  declare claimed_at: Date | null;
  declare finished_at: Date | null;
  declare lease_until: Date | null;
  declare cancel_requested_at: Date | null;
  declare exit_code: number | null;
  /** Masked. */
  declare output: string | null;
  declare error_code: string | null;
  declare error: string | null;
  /** Encrypted under a key that only the runner's token yields. */
  declare masked_values: Buffer | null;
  declare masked_tail: Buffer | null;
  /** Bytes of the log as the runner sent them. */
  declare log_received: number;
  /** Bytes of the log as stored. */
  declare log_size: number;
  declare log_chunks: number;
  declare is_log_truncated: boolean;
  /** What the log counts of the team's quota, in blocks. */
  declare log_blocks: number;
  declare is_log_deleted: boolean;
}
