import { ADA, AT, TEAM_ID } from './people.js';

const JOB_ID = '019a9f00-0000-7000-8000-0000000000a1';

const SUMMARY = {
  job_id: JOB_ID,
  kind: 'export',
  status: 'succeeded',
  team_id: TEAM_ID,
  format: 'ndjson',
  created_by: ADA,
  total: 1240,
  processed: 1240,
  created: 0,
  updated: 0,
  skipped: 0,
  failed: 0,
  noted: 0,
  error_code: null,
  undo_id: null,
  undo_status: null,
  undone: 0,
  download_url: `/api/bulk/jobs/${JOB_ID}/download`,
  expires_at: '2026-11-27T17:51:02.123Z',
  created_at: AT,
  started_at: AT,
  finished_at: AT,
};

/** Example responses about exports and imports. */
export const BULK: Record<string, unknown> = {
  BulkUpload: {
    file_id: '019a9f00-0000-7000-8000-0000000000a2',
    size: 734003200,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  BulkJobRef: { job_id: JOB_ID, kind: 'export', status: 'queued' },
  BulkJobSummary: { ...SUMMARY, errors: [] },
  BulkJob: { ...SUMMARY, errors: [], notes: [] },
};
