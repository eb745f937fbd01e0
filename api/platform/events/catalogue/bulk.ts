import { stored } from '../declare.js';
import { BulkJob, TEAM } from './shapes.js';

const IMPORT = {
  job_id: '0197a000-0000-7000-8000-000000000013',
  team_id: TEAM,
  kind: 'import',
  status: 'succeeded',
  error_code: null,
  processed: 1_200,
  created: 1_150,
  updated: 40,
  skipped: 8,
  failed: 2,
};

export const bulkEvents = {
  'bulk.job_finished': stored({
    payload: { job: BulkJob },
    past: 'An export or import ended, however it ended',
    webhook: true,
    sample: { project_id: null, job: IMPORT },
  }),
};
