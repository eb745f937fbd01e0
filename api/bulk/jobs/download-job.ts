import type { IncomingHttpHeaders } from 'node:http';
import type { BulkJob } from '../../../db/models/bulk-job.js';
import { type Context, inTransaction } from '../../core/context.js';
import { conflict, notFound } from '../../core/errors.js';
import type { Reply } from '../../endpoint/endpoint.js';
import { downloadHeaders, sendBytes } from '../../files/download-headers.js';
import { fileStore } from '../../files/store/file-store.js';
import { isEnded } from '../rules.js';
import { hasFile } from './present.js';
import { findJob } from './read-jobs.js';
import { recordJobChange } from './record-job-change.js';

const CONTENT_TYPES: Record<string, string> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

const noFile = () => notFound('File', { detail: 'A file exists for 7 days, and only an export that has succeeded has one.' });

/** Finds the file and records the download, before a byte is read. @throws as `downloadJob` */
function recordDownload(ctx: Context, jobId: string): Promise<BulkJob> {
  return inTransaction(ctx, async (ctx) => {
    const job = await findJob(ctx, 'bulk.run', jobId);
    if (!isEnded(job.status)) throw conflict('The job has not ended');
    if (!hasFile(job)) throw noFile();
    await recordJobChange(ctx, job, 'download', { severity: 'HIGH', details: { format: job.format, size: job.size } });
    return job;
  });
}

/**
 * Sends the file of an export, or a part of it, to whoever may export now, and records it first. Once opened, it can be read to the end
 * whatever happens.
 * @throws RESOURCE_NOT_FOUND no such job, or its file has expired | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has not ended |
 * INVALID_REQUEST 416 a range outside of the file
 */
export async function downloadJob(ctx: Context, jobId: string, asked: IncomingHttpHeaders): Promise<Reply> {
  const { created_at, format, size, sha256, object_key } = await recordDownload(ctx, jobId);
  const name = `export-${created_at.toISOString().slice(0, 10)}-${jobId}.${format}`;
  const headers = downloadHeaders(name, CONTENT_TYPES[format] as string);
  return sendBytes({ size: size ?? 0, sha256: sha256 ?? '', headers }, asked, async (range) => {
    const bytes = await fileStore(ctx.config).get(object_key as string, range);
    if (!bytes) throw noFile();
    return bytes;
  });
}
