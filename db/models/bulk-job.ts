import { BaseModel } from './base.js';

/** A job that exports or imports the data of a team. */
export class BulkJob extends BaseModel {
  static override readonly tableName = 'bulk_jobs';
  static override readonly idColumn = 'job_id';
  static override readonly jsonAttributes = ['options', 'cursor', 'notes'];

  declare job_id: string;
  declare team_id: string;
  declare kind: 'export' | 'import';
  declare format: 'ndjson' | 'json' | 'csv' | 'jira_csv' | 'linear_csv' | 'github_json';
  declare options: Record<string, unknown>;
  declare status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** Since when it, or its undo, waits for the team's place. */
  declare waiting_since: Date | null;
  /** Holds the team's place: one job of a team at a time. */
  declare is_dispatched: boolean;
  /** Raised by each claim; an older attempt writes nothing any more. */
  declare attempt: number;
  /** Null while it is unknown. */
  declare total: number | null;
  declare processed: number;
  declare created: number;
  declare updated: number;
  declare skipped: number;
  declare failed: number;
  /** Code of why it could not go on. */
  declare error_code: string | null;
  /** Export: the finished file. Import: the input. */
  declare object_key: string | null;
  /** Export: the object that the present attempt writes. */
  declare pending_key: string | null;
  /** Bytes of the object. */
  declare size: number | null;
  /** Of the object, lower-case hexadecimal. */
  declare sha256: string | null;
  /** When the object is removed. */
  declare expires_at: Date | null;
  /** Import: what could not be taken over, the first hundred, and the number of all. */
  declare notes: { line: number; entity: string | null; message: string }[];
  declare noted: number;
  /** Import: where the next batch begins. */
  declare cursor: Record<string, unknown> | null;
  /** Import: the cascade in the trash that undid it. */
  declare undo_id: string | null;
  declare undo_status: 'queued' | 'running' | 'succeeded' | 'failed' | null;
  /** Records that the undo has moved to the trash. */
  declare undone: number;
  declare undo_requested_by: string | null;
  declare requested_by: string;
  declare correlation_id: string;
  declare created_at: Date;
  declare started_at: Date | null;
  declare finished_at: Date | null;
}
