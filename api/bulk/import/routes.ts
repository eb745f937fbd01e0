import { type Endpoint, endpoint, streamEndpoint } from '../../platform/endpoint/endpoint.js';
import { BulkJobRecord, BulkJobRef, JobParams } from '../schema.js';
import { requestUndo } from '../undo/request-undo.js';
import { MAX_UPLOAD_BYTES, uploadInput } from '../uploads/upload-input.js';
import { requestImport } from './request-import.js';
import { BulkUpload, MAX_INLINE_BYTES, RequestImport, UploadQuery } from './schema.js';

/** No narrower scope covers all that an import writes. */
const run = { tag: 'Bulk data', scope: 'admin:*', ability: 'bulk.run' } as const;

/** Imports, their undo, and uploads of large inputs. */
export const importRoutes: Endpoint[] = [
  endpoint({
    ...run,
    id: 'requestImport',
    method: 'post',
    path: '/api/bulk/import',
    summary: 'Import a file into a team',
    description:
      'A job writes the records as the caller, as if they came by the API: with audit entries and events, but they start no automation unless `run_automations` is true. At the end each assignee gets one notice. Ids of the file are kept where they are free; an id that the team has is a conflict; one that is taken elsewhere is replaced. What the undo of an import moved to the trash is no conflict: it is restored with the values of the file, and counts as created. A line that fails leaves the others; the job lists the first 100. Automations are imported disabled. One job of a team runs at a time; at most 20 may be open.',
    body: RequestImport,
    bodyLimit: MAX_INLINE_BYTES,
    response: BulkJobRef,
    status: 202,
    errors: [400, 404, 409],
    limit: 'bulk_import',
    example: {
      team_id: '019a9f00-0000-7000-8000-000000000001',
      format: 'ndjson',
      data: '{"entity":"project","project_id":"p1","name":"Website"}\n{"entity":"task","project_id":"p1","title":"Write the front page"}\n',
    },
    handle: ({ ctx, body }) => requestImport(ctx, body),
  }),
  streamEndpoint({
    ...run,
    id: 'uploadBulkInput',
    method: 'post',
    path: '/api/bulk/uploads',
    summary: 'Upload a large input',
    description:
      'The body is the file itself, up to 2 GB and not compressed: an empty one is a 422, one that begins as gzip, zip, zstd, bzip2, xz or 7z a 415. It is kept for 7 days; a team keeps at most 10, of 4 GB together, and takes two at a time.',
    query: UploadQuery,
    stream: { maxBytes: MAX_UPLOAD_BYTES },
    response: BulkUpload,
    status: 201,
    errors: [404, 409],
    limit: 'bulk_import',
    handle: ({ ctx, query, bytes }) => uploadInput(ctx, query.team_id, bytes),
  }),
  endpoint({
    ...run,
    id: 'undoBulkImport',
    method: 'post',
    path: '/api/bulk/jobs/:job_id/undo',
    summary: 'Undo an import',
    description:
      'Moves what the import has created to the trash, as one cascade; comments, relations and values on other items are deleted. What it has updated stays. Projects, cycles and fields that others use stay.',
    params: JobParams,
    response: BulkJobRecord,
    status: 202,
    errors: [404, 409],
    handle: ({ ctx, params }) => requestUndo(ctx, params.job_id),
  }),
];
