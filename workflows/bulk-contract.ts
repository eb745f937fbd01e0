/** Names and shapes of the jobs of bulk data; part of workflows/contract.ts, which everybody imports. */
import type { Searchable } from './contract.js';

/** Workflow types of the two kinds of jobs. */
export const BULK_WORKFLOWS = { export: 'bulkExport', import: 'bulkImport' } as const;
export const bulkWorkflowId = (jobId: string): string => `bulk:${jobId}`;

export interface BulkInput extends Searchable {
  jobId: string;
}

/** State of a job. Counts and codes only. */
export interface BulkView {
  /** `gone`: there is no such job. */
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'gone';
  /** Null while it is unknown. */
  total: number | null;
  processed: number;
  attempt: number;
  code: string | null;
}

export interface BulkActivities {
  /** Reads the state of a job for the details of its workflow. */
  viewBulkJob(jobId: string): Promise<BulkView>;
}

export interface ExportActivities {
  /** Writes the file of an export. Begins anew each time; returns the status of the job. */
  writeExport(jobId: string): Promise<BulkView['status']>;
}
