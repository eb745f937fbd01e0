import { setTimeout as sleep } from 'node:timers/promises';
import type { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { inTransaction, type Services } from '../../platform/context.js';
import { newId } from '../../platform/ids.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { placeInOrder } from '../../work/tasks/order/manual-key.js';
import { assignJoined } from '../../work/tasks/write/expect-assignee.js';
import { contextOfJob } from '../jobs/claim-job.js';
import { endBulkJob } from '../jobs/end-job.js';
import { requesterSeat } from '../jobs/requester-seat.js';
import { MAX_ERRORS } from '../rules.js';
import { chunksStatement, finishChunkStatement, importToWriteStatement, markImportStatement } from './import-batch.sql.js';
import type { Chunk } from './prepare/chunks.js';
import type { PreparedRow } from './prepare/sorted-rows.js';
import { isForeign } from './records/read-input.js';
import type { ImportOptions } from './request-import.js';
import { ChunkResult } from './write/chunk-result.js';
import { Refs } from './write/refs.js';
import { writeChunk } from './write/write-chunk.js';

/** Chunks of one batch: 5,000 tasks. */
const CHUNKS_PER_BATCH = 10;
/** Share of the time of a chunk for which the import then rests, so that other requests find the database free. */
const THROTTLE_RATIO = 0.75;
/** Longest rest between two chunks, ms. */
const MAX_REST_MS = 1_000;

export interface ImportJob
  extends Pick<
      BulkJob,
      'job_id' | 'team_id' | 'format' | 'status' | 'correlation_id' | 'requested_by' | 'attempt' | 'object_key' | 'created_at'
    >,
    Record<string, unknown> {
  options: ImportOptions;
  email: string;
  role: InstanceRole;
  chunk: number | null;
  chunks: number | null;
  prepared_key: string | null;
  /** False for an importer who was suspended or deprovisioned. */
  is_active: boolean;
}

/** Why a batch stops before its end; `gone`: the job has ended, or another attempt writes it. */
class ImportAborted extends Error {
  constructor(readonly code: 'gone' | 'permission_lost' | 'input_gone') {
    super(`The import stops: ${code}`);
  }
}

export async function readImport({ db }: Pick<Services, 'db'>, jobId: string): Promise<ImportJob | undefined> {
  const [job] = await run<ImportJob>(db, importToWriteStatement, [jobId]);
  return job;
}

/** Reads the rows of a chunk from the prepared object. @throws ImportAborted the object is gone */
async function readRows({ config }: Services, key: string, { byte_from, byte_to }: Chunk): Promise<PreparedRow[]> {
  const bytes = await fileStore(config).get(key, { first: byte_from, last: byte_to - 1 });
  if (!bytes) throw new ImportAborted('input_gone');
  const text = Buffer.concat(await bytes.toArray()).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PreparedRow);
}

const storedRows = ({ written, errors }: ChunkResult) => [
  ...written.map((row) => ({ ...row, message: null })),
  ...errors.first.map(({ line, entity, message }) => ({
    line,
    part: -1,
    entity,
    ref: null,
    item_id: null,
    outcome: 'failed',
    message,
  })),
];

/** Writes a chunk, and that it is written, in one transaction. @throws ImportAborted */
function write(services: Services, job: ImportJob, chunk: Chunk, rows: PreparedRow[]): Promise<void> {
  const { job_id, team_id, options } = job;
  return inTransaction({ ...contextOfJob(services, job), requestId: newId() }, async (ctx) => {
    const seat = await requesterSeat(ctx, team_id);
    if (seat === null) throw new ImportAborted('permission_lost');
    await run(ctx.db, markImportStatement, [options.run_automations === true ? 'loud' : 'quiet']);
    const result = new ChunkResult(chunk.kind);
    const { project_id, on_conflict } = options;
    const refs = new Refs(ctx, job_id);
    const place = placeInOrder({ position: null, created_at: job.created_at.toISOString() });
    const batch = { ctx, job_id, team_id, project_id, on_conflict, seat, result, refs, place, isForeign: isForeign(job.format) };
    await writeChunk(batch, chunk, rows);
    const counts = { ...result.counts, processed: result.processed, noted: result.notes.count };
    const values = [job_id, chunk.chunk, JSON.stringify(counts), JSON.stringify(result.notes.first)];
    const [moved] = await run(ctx.db, finishChunkStatement, [...values, JSON.stringify(storedRows(result)), MAX_ERRORS]);
    if (!moved) throw new ImportAborted('gone');
  });
}

/** Removes the prepared rows of a job that has ended. */
async function removePrepared({ config }: Services, key: string | null): Promise<void> {
  if (key !== null) await fileStore(config).remove(key);
}

/** Ends a job that cannot go on, or has nothing left to do. */
export async function endImport(services: Services, job: ImportJob, code: string | null): Promise<void> {
  const ctx = contextOfJob(services, job);
  const ended =
    code === null
      ? await endBulkJob(ctx, job, null, 'succeeded')
      : await endBulkJob(ctx, job, null, 'failed', { error_code: code });
  // A job succeeds only while its importer may import.
  if (!ended && code === null) await endBulkJob(ctx, job, null, 'failed', { error_code: 'permission_lost' });
  await removePrepared(services, job.prepared_key);
}

/** Writes chunks of a running job; resolves to whether all are written. @throws ImportAborted */
async function writeChunks(services: Services, job: ImportJob, signal: AbortSignal): Promise<boolean> {
  const { chunk: first, chunks: total, prepared_key: key, job_id } = job;
  if (!job.is_active) throw new ImportAborted('permission_lost');
  if (first === null || total === null || key === null) throw new Error(`The import ${job_id} is not prepared`);
  const chunks = await run<Chunk & Record<string, unknown>>(services.db, chunksStatement, [job_id, first, CHUNKS_PER_BATCH]);
  for (const chunk of chunks) {
    signal.throwIfAborted();
    const started = performance.now();
    await write(services, job, chunk, await readRows(services, key, chunk));
    const rest = Math.min(MAX_REST_MS, (performance.now() - started) * THROTTLE_RATIO);
    await sleep(rest, undefined, { signal });
  }
  return first + chunks.length >= total;
}

/** Writes the next chunks of a running job; resolves to whether the job has ended. */
async function writeBatch(services: Services, job: ImportJob, signal: AbortSignal): Promise<boolean> {
  try {
    if (!(await writeChunks(services, job, signal))) return false;
    await endImport(services, job, null);
  } catch (error) {
    if (!(error instanceof ImportAborted)) throw error;
    // Another attempt of this batch may be at work: the next look tells.
    if (error.code === 'gone') return false;
    await endImport(services, job, error.code);
  }
  return true;
}

/**
 * Writes the next 5,000 rows of an import, in transactions of 500. A repeated batch resumes at the cursor: the position moves in the
 * transaction of the rows. `signal` aborts when the worker shuts down or the workflow has ended. Resolves to whether the job has ended.
 */
export async function importBatch(services: Services, jobId: string, signal: AbortSignal): Promise<boolean> {
  const job = await readImport(services, jobId);
  if (!job) return true;
  const isRunning = job.status === 'running';
  const hasEnded = isRunning ? await writeBatch(services, job, signal) : true;
  // Also after a batch that was interrupted: another call follows, if only to see that the job has ended.
  await assignJoined({ ...contextOfJob(services, job), requestId: newId() }, job.team_id);
  if (!isRunning) await removePrepared(services, job.prepared_key);
  return hasEnded;
}
