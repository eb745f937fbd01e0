import { BaseModel } from '../base.js';

/** One execution of an automation. The row is authoritative; the workflow only drives it. */
export class AutomationRun extends BaseModel {
  static override readonly tableName = 'automation_runs';
  static override readonly idColumn = 'run_id';
  static override readonly jsonAttributes = ['event', 'error'];

  declare run_id: string;
  declare automation_id: string;
  declare automation_version: number;
  declare automation_name: string;
  declare team_id: string | null;
  declare project_id: string | null;
  declare creator_id: string;
  declare status: 'queued' | 'running' | 'paused' | 'succeeded' | 'failed' | 'skipped' | 'expired' | 'cancelled';
  declare skip_reason: 'condition_false' | 'rejected' | 'loop' | null;
  declare trigger_type: string;
  declare event: Record<string, unknown>;
  declare event_truncated: boolean;
  declare condition_error: string | null;
  declare is_test: boolean;
  declare triggered_by: string | null;
  declare depth: number;
  /** Users behind the cause, besides `triggered_by`. */
  declare cause_user_ids: string[];
  declare retry_of: string | null;
  /** The failed run behind a replay, or behind a replay of a replay. */
  declare first_run_id: string | null;
  declare retried_by: string | null;
  declare retry_count: number;
  declare correlation_id: string;
  declare incarnation: number;
  declare claimed_by: string | null;
  declare error: { code: string; message: string } | null;
  declare queued_at: Date;
  declare started_at: Date | null;
  declare finished_at: Date | null;
}
