import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import type { Services } from '../../platform/context.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { newObjectKey } from '../../work/items/files/store/object-store.js';
import { type ClaimedJob, claimBulkJob, contextOfJob } from '../jobs/claim-job.js';
import { endBulkJob } from '../jobs/end-job.js';
import { reportProgressStatement } from '../jobs/progress.sql.js';
import { type Entity, type ExportFormat, FILE_DAYS, type BulkJobStatus, MAX_ATTEMPTS } from '../rules.js';
import { MAX_SNAPSHOT_MS, readRows, type Scope } from './read-rows.js';
import { type Rows, writeRows } from './write-rows.js';

const DAY_MS = 86_400_000;
const REPORT_MS = 1_000;

/** How an attempt ends before its file is whole, with the code of the job; `gone`: it is no longer this attempt's job. */
class ExportAborted extends Error {
  constructor(readonly code: 'gone' | 'permission_lost' | 'timed_out' | 'interrupted') {
    super(`The export stops: ${code}`);
  }
}

/** What the activity gives to an attempt. */
export interface AttemptOptions {
  /** A small pool of its own. */
  exportDb: Knex;
  /** Called each second. */
  heartbeat: (rows: number) => void;
  /** Aborts when the worker shuts down or the workflow has ended. */
  signal: AbortSignal;
}

/** Counters of an attempt. */
interface Progress {
  rows: number;
  total: number | null;
}

/** Reports each second while an attempt works, and aborts it when it is no longer to go on. */
function watchAttempt(services: Services, job: ClaimedJob, progress: Progress, options: AttemptOptions) {
  const stop = new AbortController();
  const roles = rolesFor('bulk.run');
  const report = async (): Promise<void> => {
    options.heartbeat(progress.rows);
    const values = [job.job_id, job.attempt, progress.rows, progress.total, roles];
    const [row] = await run<{ is_permitted: boolean }>(services.db, reportProgressStatement, values);
    if (!row) stop.abort(new ExportAborted('gone'));
    else if (!row.is_permitted) stop.abort(new ExportAborted('permission_lost'));
  };
  let reporting: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A database that cannot be reached stops the attempt by its own statements.
    reporting ??= report()
      .catch((error: unknown) => services.log.warn({ err: error, job_id: job.job_id }, 'progress of an export was not stored'))
      .finally(() => {
        reporting = undefined;
      });
  }, REPORT_MS);
  const deadline = setTimeout(() => stop.abort(new ExportAborted('timed_out')), MAX_SNAPSHOT_MS);
  return {
    signal: AbortSignal.any([stop.signal, options.signal]),
    async end() {
      clearInterval(timer);
      clearTimeout(deadline);
      await reporting;
    },
  };
}

/** Passes rows on while counting them, until `signal` aborts. @throws its reason */
async function* counted(chunks: AsyncIterable<Rows>, progress: Progress, signal: AbortSignal): AsyncGenerator<Rows> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
    progress.rows += chunk.count;
  }
  signal.throwIfAborted();
}

/** Passes bytes on while measuring them; `result` is complete when all were read. */
function measured(chunks: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  let size = 0;
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      size += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: bytes(), result: () => ({ size, sha256: hash.digest('hex') }) };
}

/** Writes the file of a claimed job to the store, from one snapshot. @throws ExportAborted | errors of the database or the store */
async function writeFile(services: Services, job: ClaimedJob, key: string, progress: Progress, options: AttemptOptions) {
  const { entities, project_ids } = job.options as { entities: Entity[]; project_ids: string[] | null };
  const scope: Scope = { teamId: job.team_id, projectIds: project_ids, entities };
  const watch = watchAttempt(services, job, progress, options);
  try {
    const rows = readRows(options.exportDb, scope, (total) => {
      progress.total = total;
    });
    const written = writeRows(counted(rows, progress, watch.signal), job.format as ExportFormat, entities);
    const { bytes, result } = measured(written);
    await fileStore(services.config).put(key, bytes);
    return result();
  } finally {
    await watch.end();
  }
}

async function getStatus({ db }: Pick<Services, 'db'>, jobId: string): Promise<BulkJobStatus> {
  return (await BulkJob.query(db).findById(jobId))?.status ?? 'cancelled';
}

/** Ends the job with an error code, unless it is another attempt's. */
async function fail(services: Services, job: ClaimedJob, progress: Progress, error_code: string): Promise<void> {
  await endBulkJob(contextOfJob(services, job), job, job.attempt, 'failed', { error_code, processed: progress.rows });
}

/**
 * Exports the data of a team: claims the job, writes its file from one snapshot to a new object of the store, and ends the job. Begins anew each
 * time: what an attempt before has left is removed. May be repeated.
 * @returns the status of the job @throws whatever makes a further attempt sensible
 */
export async function runExport(services: Services, jobId: string, options: AttemptOptions): Promise<BulkJobStatus> {
  const store = fileStore(services.config);
  const key = newObjectKey();
  const job = await claimBulkJob(services, jobId, key);
  if (!job) return getStatus(services, jobId);
  if (job.left_key !== null) await store.remove(job.left_key);
  const progress: Progress = { rows: 0, total: null };
  try {
    if (job.attempt > MAX_ATTEMPTS) throw new ExportAborted('interrupted');
    const file = await writeFile(services, job, key, progress, options);
    const expires_at = new Date(Date.now() + FILE_DAYS * DAY_MS);
    const ending = { ...file, object_key: key, expires_at, processed: progress.rows, total: progress.rows };
    // If this fails, the file may have its row: the next attempt finds out.
    if (await endBulkJob(contextOfJob(services, job), job, job.attempt, 'succeeded', ending)) return 'succeeded';
    await store.remove(key);
    throw new ExportAborted('permission_lost');
  } catch (error) {
    if (!(error instanceof ExportAborted)) throw error;
    if (error.code !== 'gone') await fail(services, job, progress, error.code);
  }
  return getStatus(services, jobId);
}
