/** Names and shapes of the jobs of bulk data. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the workflow of an export or import that has its team's place. */
    'bulk.start': { job_id: string };
    /** Start the workflow that undoes an import. */
    'bulk.undo': { job_id: string };
  }
}

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

/** Workflow type that takes back what an import has created. */
export const BULK_UNDO = 'bulkUndo';
export const bulkUndoWorkflowId = (jobId: string): string => `bulk-undo:${jobId}`;

export interface ImportActivities {
  /** Reads and checks the input of an import. Begins anew each time; resolves to whether the job has ended. */
  prepareImport(jobId: string): Promise<boolean>;
  /** Writes the next 5,000 rows. Resumes at the cursor; resolves to whether the job has ended. */
  importBatch(jobId: string): Promise<boolean>;
  /** Takes back the next records of an import. Resumes at the cursor; resolves to whether the undo has ended. */
  undoBatch(jobId: string): Promise<boolean>;
}

/** Activities that end a job whose other activities failed permanently. */
export interface ImportEndings {
  failImport(jobId: string): Promise<void>;
  failUndo(jobId: string): Promise<void>;
}

export interface ExportActivities {
  /** Writes the file of an export. Begins anew each time; returns the status of the job. */
  writeExport(jobId: string): Promise<BulkView['status']>;
}
