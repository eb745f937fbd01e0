import { type Endpoint, endpoint, Bytes } from '../platform/endpoint/endpoint.js';
import { requestExport } from './export/request-export.js';
import { cancelBulkJob } from './jobs/cancel-job.js';
import { downloadJob } from './jobs/download-job.js';
import { getBulkJob, listBulkJobs } from './jobs/read-jobs.js';
import { BulkJobRecord, BulkJobRef, BulkJobSummary, JobParams, ListJobs, RequestExport } from './schema.js';
import { z } from 'zod';

/** No narrower scope covers all that a team has. */
const whole = { tag: 'Bulk data', scope: 'admin:*' } as const;
const read = { ...whole, ability: 'bulk.read' } as const;
const run = { ...whole, ability: 'bulk.run' } as const;

/** Exports, and the jobs of exports and imports. */
export const bulkRoutes: Endpoint[] = [
  endpoint({
    ...run,
    id: 'requestExport',
    method: 'post',
    path: '/api/bulk/export',
    summary: 'Export the data of a team',
    description:
      'A job writes one file, of one moment. Each row has `entity` and the record: `ndjson` one a line, `json` an array, `csv` a table of one entity, where an apostrophe guards cells that a spreadsheet would calculate. `ndjson` and `json` hold all that an import needs. What is in the trash, edges to other teams, secrets, tokens and the audit log are never exported. One job of a team runs at a time; at most 20 wait.',
    body: RequestExport,
    response: BulkJobRef,
    status: 202,
    errors: [404, 409],
    example: { team_id: '019a9f00-0000-7000-8000-000000000001', format: 'ndjson', entities: ['projects', 'tasks'] },
    handle: ({ ctx, body }) => requestExport(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'listBulkJobs',
    method: 'get',
    path: '/api/bulk/jobs',
    summary: 'List exports and imports',
    description:
      'Newest first, with counts and the first errors. All that a job says of single lines is in the job itself: `GET /api/bulk/jobs/{job_id}`.',
    query: ListJobs,
    response: z.array(BulkJobSummary),
    errors: [404],
    handle: ({ ctx, query }) => listBulkJobs(ctx, query),
  }),
  endpoint({
    ...read,
    id: 'getBulkJob',
    method: 'get',
    path: '/api/bulk/jobs/:job_id',
    summary: 'Get an export or import with its progress',
    params: JobParams,
    response: BulkJobRecord,
    errors: [404],
    handle: ({ ctx, params }) => getBulkJob(ctx, params.job_id),
  }),
  endpoint({
    ...run,
    id: 'downloadBulkJob',
    method: 'get',
    path: '/api/bulk/jobs/:job_id/download',
    summary: 'Download the file of an export',
    description:
      'For 7 days, by any manager of the team at that time. Each download leaves an audit entry. The ETag is the SHA-256 of the bytes; If-Range continues a download.',
    params: JobParams,
    response: Bytes,
    download: true,
    etag: 'kept',
    alsoStatus: [206],
    errors: [404, 409, 416],
    handle: ({ ctx, params, headers }) => downloadJob(ctx, params.job_id, headers),
  }),
  endpoint({
    ...run,
    id: 'cancelBulkJob',
    method: 'post',
    path: '/api/bulk/jobs/:job_id/cancel',
    summary: 'Cancel an export or import',
    description: 'It stops within seconds. Records that an import has written stay; an undo moves them to the trash.',
    params: JobParams,
    response: BulkJobRecord,
    errors: [404, 409],
    handle: ({ ctx, params }) => cancelBulkJob(ctx, params.job_id),
  }),
];
