import type { BulkJob } from '../../../db/models/bulk-job.js';
import type { BulkJobSummary } from '../schema.js';

/** Whether the file of an export can be downloaded now. */
export const hasFile = ({ kind, status, expires_at }: BulkJob): boolean =>
  kind === 'export' && status === 'succeeded' && expires_at !== null && expires_at.getTime() > Date.now();

/** Converts a row to the record of the API, without what it says of single lines. */
export const presentJob = (job: BulkJob): Omit<BulkJobSummary, 'errors'> => ({
  job_id: job.job_id,
  kind: job.kind,
  status: job.status,
  team_id: job.team_id,
  format: job.format,
  created_by: job.requested_by,
  total: job.total,
  processed: job.processed,
  created: job.created,
  updated: job.updated,
  skipped: job.skipped,
  failed: job.failed,
  noted: job.noted,
  error_code: job.error_code,
  undo_id: job.undo_id,
  undo_status: job.undo_status,
  undone: job.undone,
  download_url: hasFile(job) ? `/api/bulk/jobs/${job.job_id}/download` : null,
  expires_at: job.kind === 'export' ? (job.expires_at?.toISOString() ?? null) : null,
  created_at: job.created_at.toISOString(),
  started_at: job.started_at?.toISOString() ?? null,
  finished_at: job.finished_at?.toISOString() ?? null,
});
