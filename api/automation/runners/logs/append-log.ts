import { storable } from '../../../platform/fields.js';
import type { RunnerJob } from '../../../../db/models/runner-job.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { lockHeldJob, settleBeforeReport } from '../jobs/held-job.js';
import { SHALL_STOP } from '../jobs/heartbeat.js';
import type { AppendedLog, AppendLog } from '../schema.js';
import { countBlocks, reserveBlocks } from './log-quota.js';
import { maskEnd, maskPart } from './mask.js';
import { maskedValues, openTail, sealTail } from './masked-values.js';

/** Longest log of a job, in bytes as stored. */
const MAX_LOG_BYTES = 5 * 1024 * 1024;
/** Most parts of a log. A runner that sends a line at a time for hours needs fewer. */
const MAX_CHUNKS = 50_000;
const TRUNCATED = '\n[The log is longer than 5 MB; the rest is not kept.]\n';
const NO_ROOM = '\n[Logs of running jobs fill the quota of the team; the rest of this log is not kept.]\n';

/** $1 = job id, $2 = offset as sent, $3 = position as stored, $4 = text. */
const insertStatement = defineStatement({
  name: 'append_runner_job_log',
  text: 'insert into runner_job_logs (job_id, "offset", position, text) values ($1, $2, $3, $4)',
});

/**
 * $1 = job id, $2 = bytes received, $3 = bytes stored, $4 = tail, $5 = whether the log is full, $6 = lease in seconds, $7 = chunks stored, $8 =
 * blocks of the quota. A runner that sends its log is alive, so its lease is renewed.
 */
const advanceStatement = defineStatement({
  name: 'advance_runner_job_log',
  text: /* sql */ `
    update runner_jobs set log_received = log_received + $2, log_size = log_size + $3, masked_tail = $4,
      is_log_truncated = is_log_truncated or $5, log_chunks = log_chunks + $7, log_blocks = $8,
      lease_until = clock_timestamp() + make_interval(secs => $6)
    where job_id = $1 returning ${SHALL_STOP} as cancel, is_log_truncated as truncated, log_received::float8 as next_offset`,
});

/** Returns the beginning of a text that has at most `most` bytes, cut between two characters. */
function cutTo(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

interface Part {
  /** Bytes as the runner sent them. */
  received: number;
  text: string;
  tail: string;
}

interface Advance {
  received: number;
  stored: number;
  tail: Buffer | null;
  isFull: boolean;
  blocks: number;
}

async function advance(
  ctx: Context,
  { job_id }: RunnerJob,
  { received, stored, tail, isFull, blocks }: Advance,
): Promise<AppendedLog> {
  const values = [job_id, received, stored, tail, isFull, ctx.config.RUNNER_LEASE_SECONDS, stored === 0 ? 0 : 1, blocks];
  const [row] = await run<AppendedLog & Record<string, unknown>>(ctx.db, advanceStatement, values);
  return row as AppendedLog;
}

/** The text to store of the next part of a log, and the blocks of the log with it. */
interface Kept {
  text: string;
  isFull: boolean;
  blocks: number;
}

/** Returns what is kept of a part: as far as there is room in the log and in the team's quota. */
async function fit(ctx: Context, job: RunnerJob, text: string): Promise<Kept> {
  const room = MAX_LOG_BYTES - job.log_size;
  const bytes = Buffer.byteLength(text);
  const isFull = bytes > room || job.log_chunks + 1 >= MAX_CHUNKS;
  const kept = isFull ? `${cutTo(text, Math.min(room, bytes))}${TRUNCATED}` : text;
  if (kept === '') return { text: kept, isFull, blocks: job.log_blocks };
  const blocks = Math.max(job.log_blocks, countBlocks(job.log_size + Buffer.byteLength(kept), job.log_chunks + 1));
  const added = blocks - job.log_blocks;
  if (added === 0 || (await reserveBlocks(ctx, job.team_id, added))) return { text: kept, isFull, blocks };
  // One line more than the quota allows, once a job.
  return { text: NO_ROOM, isFull: true, blocks: job.log_blocks };
}

/** Stores the next part of a log, as far as there is room for it. */
async function store(ctx: Context, job: RunnerJob, token: string, { received, text, tail }: Part): Promise<AppendedLog> {
  const { text: kept, isFull, blocks } = await fit(ctx, job, text);
  if (kept !== '') await run(ctx.db, insertStatement, [job.job_id, job.log_received, job.log_size, kept]);
  const sealed = isFull ? null : sealTail(job.job_id, token, tail);
  return advance(ctx, job, { received, stored: Buffer.byteLength(kept), tail: sealed, isFull, blocks });
}

/** @throws RESOURCE_CONFLICT `expected_offset` | PAYLOAD_TOO_LARGE */
function checkOffset({ log_received: expected, is_log_truncated }: RunnerJob, offset: number, bytes: number): 'new' | 'repeated' {
  if (offset + bytes <= expected) return 'repeated';
  if (is_log_truncated) {
    throw new DomainError('PAYLOAD_TOO_LARGE', 'The log of this job is full', {
      detail: 'Send no more of it; the job may go on.',
    });
  }
  if (offset === expected) return 'new';
  throw conflict(offset > expected ? 'A part of the log is missing' : 'A part of this chunk was sent before', {
    detail: `Go on from byte ${expected}.`,
    extra: { expected_offset: expected },
  });
}

/**
 * Appends a chunk to the log of a job that the runner holds, secrets masked, also those that are split over chunks. A repeated chunk changes
 * nothing. Renews the lease.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team | RESOURCE_CONFLICT `expected_offset` a gap; the runner does not hold the job:
 * `job_status` if it did | PAYLOAD_TOO_LARGE the log is full
 */
export async function appendLog(
  ctx: Context,
  jobId: string,
  { runner, token }: { runner: RunnerIdentity; token: string },
  { chunk, offset }: AppendLog,
): Promise<AppendedLog> {
  await settleBeforeReport(ctx, jobId, runner);
  return inTransaction(ctx, async (ctx) => {
    const job = await lockHeldJob(ctx, jobId, runner);
    const received = Buffer.byteLength(chunk);
    if (checkOffset(job, offset, received) === 'repeated') {
      return advance(ctx, job, { received: 0, stored: 0, tail: job.masked_tail, isFull: false, blocks: job.log_blocks });
    }
    const part = maskPart(maskedValues(job, token), openTail(job, token), storable(chunk));
    return store(ctx, job, token, { received, ...part });
  });
}

/** Stores what is held back of the log of a locked job, before it ends. */
export async function flushLog(ctx: Context, job: RunnerJob, token: string): Promise<void> {
  const rest = maskEnd(maskedValues(job, token), openTail(job, token));
  if (rest !== '' && !job.is_log_truncated) await store(ctx, job, token, { received: 0, text: rest, tail: '' });
}
