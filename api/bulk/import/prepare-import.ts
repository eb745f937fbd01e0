import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import type { Context, Services } from '../../platform/context.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { newObjectKey } from '../../work/items/files/store/object-store.js';
import { InputError } from '../formats/input.js';
import { type ClaimedJob, claimBulkJob, contextOfJob } from '../jobs/claim-job.js';
import { endBulkJob } from '../jobs/end-job.js';
import { reportProgressStatement } from '../jobs/progress.sql.js';
import { MAX_ATTEMPTS } from '../rules.js';
import { findInput } from './find-input.js';
import { type ImportJob, readImport } from './import-batch.js';
import { ChunkWriter } from './prepare/chunks.js';
import { findMembers } from './prepare/find-members.js';
import { States } from './prepare/states.js';
import { Strangers } from './prepare/strangers.js';
import { findPlacesByName } from './prepare/find-places-by-name.js';
import { makeWorkFolder, removeWorkFolder } from './prepare/row-file.js';
import { sortInput } from './prepare/sort-input.js';
import { takeNumbers } from './prepare/take-numbers.js';
import { SortedRows } from './prepare/sorted-rows.js';
import { isForeign, type OpenInput } from './records/read-input.js';
import { storePreparedStatement, storeProblemStatement } from './prepare-import.sql.js';

const REPORT_MS = 1_000;

/** Why a preparation ends; `gone`: the job has ended, or a later attempt prepares it. */
class ImportAborted extends Error {
  constructor(
    readonly code: 'gone' | 'permission_lost' | 'input_gone' | 'input_invalid' | 'interrupted',
    readonly problem?: InputError,
  ) {
    super(`The preparation stops: ${code}`);
  }
}

/** Returns a function that checks each second whether to go on. It throws ImportAborted, or the reason of the signal. */
function watch(services: Services, { job_id, attempt }: ClaimedJob, signal: AbortSignal): () => Promise<void> {
  const roles = rolesFor('bulk.run');
  let next = Date.now() + REPORT_MS;
  return async () => {
    signal.throwIfAborted();
    if (Date.now() < next) return;
    next = Date.now() + REPORT_MS;
    const [row] = await run<{ is_permitted: boolean }>(services.db, reportProgressStatement, [job_id, attempt, 0, null, roles]);
    if (!row) throw new ImportAborted('gone');
    if (!row.is_permitted) throw new ImportAborted('permission_lost');
  };
}

/** Returns how to read the input from its start. @throws ImportAborted it is gone */
async function openInput(ctx: Context, job: ImportJob): Promise<OpenInput> {
  const { file_id } = job.options;
  const key = file_id === null ? job.object_key : (await findInput(ctx, job.team_id, file_id))?.object_key;
  if (key == null) throw new ImportAborted('input_gone');
  const store = fileStore(ctx.config);
  return async function* open() {
    const bytes = await store.get(key);
    if (!bytes) throw new ImportAborted('input_gone');
    yield* bytes as AsyncIterable<Uint8Array>;
  };
}

/** Reads and sorts the input, stores its rows as one object, and the position of each chunk. @throws ImportAborted */
async function prepare(services: Services, found: ImportJob, job: ClaimedJob, key: string, signal: AbortSignal): Promise<void> {
  const { job_id, team_id, format, attempt } = job;
  const ctx = contextOfJob(services, job);
  const assertStillRunning = watch(services, job, signal);
  const open = await openInput(ctx, found);
  const { project_id } = found.options;
  const getMemberName = isForeign(format) ? await findMembers(ctx, team_id) : () => undefined;
  const getState = isForeign(format) ? await findPlacesByName(ctx, team_id, found.options.states) : () => undefined;
  const strangers = new Strangers();
  const states = new States();
  const addStranger = strangers.add.bind(strangers);
  const addState = states.add.bind(states);
  const folder = await makeWorkFolder(services.config, job_id, attempt);
  const rows = new SortedRows(folder);
  try {
    const { total, errors, notes } = await sortInput(
      rows,
      { format, open, place: { team_id, project_id, getMemberName, addStranger, addState, getState } },
      assertStillRunning,
    );
    for (const { line, message } of [...states.notes(), ...strangers.notes()]) notes.add(line, 'task', message);
    const files = await rows.sorted(
      (ids) => takeNumbers(ctx, team_id, ids),
      ({ line }) => errors.add(line, 'task', 'parent_task_id forms a cycle, or the task is nested too deep'),
      ({ line }) => notes.add(line, 'task', 'The task does not recur: a later occurrence of its series does'),
    );
    const writer = new ChunkWriter(files);
    async function* watched() {
      for await (const bytes of writer.bytes()) {
        yield bytes;
        await assertStillRunning();
      }
    }
    await fileStore(services.config).put(key, watched());
    const counts = { total, failed: errors.count, noted: notes.count };
    const values = [
      JSON.stringify(writer.chunks),
      JSON.stringify(counts),
      JSON.stringify(notes.first),
      JSON.stringify(errors.first),
    ];
    const [stored] = await run(services.db, storePreparedStatement, [job_id, attempt, key, ...values]);
    if (!stored) throw new ImportAborted('gone');
  } finally {
    await rows.release();
    await removeWorkFolder(folder);
  }
}

/** Ends a job whose input cannot be read, with where and why. */
async function fail(services: Services, job: ClaimedJob, { code, problem }: ImportAborted): Promise<void> {
  if (problem) {
    await run(services.db, storeProblemStatement, [job.job_id, problem.line, problem.message]);
  }
  await endBulkJob(contextOfJob(services, job), job, job.attempt, 'failed', { error_code: code });
}

/**
 * Prepares an import: reads its input once, checks each record, and stores the records in the order in which they can be written. May be
 * repeated: each attempt begins anew, until one has stored what it found. `signal` aborts when the worker shuts down or the workflow has ended.
 * Resolves to whether the job has ended.
 */
export async function prepareImport(services: Services, jobId: string, signal: AbortSignal): Promise<boolean> {
  const found = await readImport(services, jobId);
  if (!found || found.chunk !== null) return found === undefined || !['queued', 'running'].includes(found.status);
  const key = newObjectKey();
  const job = await claimBulkJob(services, jobId, key);
  if (!job) return true;
  const store = fileStore(services.config);
  if (job.left_key !== null) await store.remove(job.left_key);
  try {
    if (job.attempt > MAX_ATTEMPTS) throw new ImportAborted('interrupted');
    await prepare(services, found, job, key, signal);
    return false;
  } catch (error) {
    const stopped = error instanceof InputError ? new ImportAborted('input_invalid', error) : error;
    if (!(stopped instanceof ImportAborted)) throw error;
    await store.remove(key);
    if (stopped.code === 'gone') return true;
    await fail(services, job, stopped);
    return true;
  }
}
