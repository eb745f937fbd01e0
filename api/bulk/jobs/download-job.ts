import type { Readable } from 'node:stream';
import type { BulkJob } from '../../../db/models/bulk-job.js';
import { type Context, inTransaction } from '../../core/context.js';
import { requireScopeIfStrict } from '../../core/scopes.js';
import { conflict, notFound } from '../../core/errors.js';
import { Reply } from '../../endpoint/endpoint.js';
import { contentDisposition } from '../../files/download-headers.js';
import { fileStore } from '../../files/store/file-store.js';
import { type Entity, isEnded, SCOPES_TO_READ } from '../rules.js';
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
    for (const entity of job.options['entities'] as Entity[]) requireScopeIfStrict(ctx, SCOPES_TO_READ[entity]);
    await recordJobChange(ctx, job, 'download', { severity: 'HIGH', details: { format: job.format, size: job.size } });
    return job;
  });
}

/**
 * Opens the file of an export for whoever may export now, and records it first. Once opened, it can be read to the end whatever happens.
 * @throws RESOURCE_NOT_FOUND no such job, or its file has expired | PERMISSION_DENIED below manager | RESOURCE_CONFLICT it has no file yet
 */
export async function downloadJob(ctx: Context, jobId: string): Promise<Reply<Readable>> {
  const { created_at, format, size, object_key } = await recordDownload(ctx, jobId);
  const bytes = await fileStore(ctx.config).get(object_key as string);
  if (!bytes) throw noFile();
  return new Reply(bytes, {
    headers: {
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
      'Content-Type': CONTENT_TYPES[format] as string,
      'Content-Disposition': contentDisposition(`export-${created_at.toISOString().slice(0, 10)}-${jobId}.${format}`),
      'Content-Length': String(size),
    },
  });
}
