import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { BulkJob } from '../../../db/models/bulk-job.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import type { Reply } from '../../platform/endpoint/endpoint.js';
import { downloadHeaders, sendBytes } from '../../work/items/files/download-headers.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import type { ByteRange } from '../../work/items/files/store/object-store.js';
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

const buildHeaders = ({ job_id, created_at, format }: BulkJob) =>
  downloadHeaders(`export-${created_at.toISOString().slice(0, 10)}-${job_id}.${format}`, CONTENT_TYPES[format] as string);

async function openObject({ config }: Context, { object_key }: BulkJob, range?: ByteRange): Promise<Readable> {
  const bytes = await fileStore(config).get(object_key as string, range);
  if (!bytes) throw noFile();
  return bytes;
}

/**
 * Sends the file of an export, or a part of it, to a caller who may export now, and records it first. Once opened, it can be read to the end
 * whatever happens.
 * @throws RESOURCE_NOT_FOUND no such job, or its file has expired | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has not ended |
 * INVALID_REQUEST 416 a range outside of the file
 */
export async function downloadJob(ctx: Context, jobId: string, asked: IncomingHttpHeaders): Promise<Reply> {
  const job = await recordDownload(ctx, jobId);
  const file = { size: job.size ?? 0, sha256: job.sha256 ?? '', headers: buildHeaders(job) };
  return sendBytes(file, asked, (range) => openObject(ctx, job, range));
}

/** Opens the whole file for a page. @throws as `downloadJob` */
export async function downloadFile(ctx: Context, jobId: string): Promise<{ bytes: Readable; headers: Record<string, string> }> {
  const job = await recordDownload(ctx, jobId);
  return { bytes: await openObject(ctx, job), headers: { ...buildHeaders(job), 'Content-Length': String(job.size ?? 0) } };
}
