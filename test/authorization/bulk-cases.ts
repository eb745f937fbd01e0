import { LIVE, type Row } from './row.js';

const octets = { 'content-type': 'application/octet-stream' };
const wanted = { format: 'ndjson', data: '{}' };

/** Exports and imports, their jobs and uploads. */
export const bulkCases: Row[] = [
  {
    route: 'POST /api/bulk/export',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, format: 'ndjson' } }),
  },
  {
    route: 'POST /api/bulk/export',
    by: 'project_ids',
    subject: 'project',
    names: 'project_id',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ body: { team_id: s.team_id, project_ids: [s.project_id], format: 'ndjson' } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
  },
  {
    route: 'GET /api/bulk/jobs',
    subject: 'exported',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
  },
  { route: 'GET /api/bulk/jobs/:job_id', subject: 'exported', kinds: LIVE, send: (s) => ({ params: { job_id: s.id } }) },
  {
    route: 'GET /api/bulk/jobs/:job_id/download',
    subject: 'exported',
    leaves: 'the audit entry of a download',
    kinds: LIVE,
    send: (s) => ({ params: { job_id: s.id } }),
  },
  {
    route: 'POST /api/bulk/jobs/:job_id/cancel',
    subject: 'waitingJob',
    once: true,
    kinds: LIVE,
    send: (s) => ({ params: { job_id: s.id } }),
  },
  {
    route: 'POST /api/bulk/import',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { ...wanted, team_id: s.id } }),
  },
  {
    route: 'POST /api/bulk/import',
    by: 'project_id',
    subject: 'project',
    names: 'project_id',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ body: { ...wanted, team_id: s.team_id, project_id: s.project_id } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
  },
  {
    route: 'POST /api/bulk/import',
    by: 'file_id',
    subject: 'bulkUpload',
    kinds: LIVE,
    send: (s) => ({ body: { format: 'ndjson', team_id: s.team_id, file_id: s.id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'A file of another team is as unknown as none',
  },
  {
    route: 'POST /api/bulk/uploads',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.id }, raw: '{}', headers: octets }),
  },
  {
    route: 'POST /api/bulk/jobs/:job_id/undo',
    subject: 'imported',
    once: true,
    kinds: LIVE,
    send: (s) => ({ params: { job_id: s.id } }),
  },
];
