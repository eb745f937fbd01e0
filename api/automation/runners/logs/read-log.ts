import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { readJob } from '../jobs/read-job.js';
import { isOpen } from '../record/rules.js';
import type { LogPage, ReadLog } from '../schema.js';

/** Bytes of a page; a chunk is shorter. */
const PAGE_BYTES = 256 * 1024;

/** $1 = job id, $2 = position, $3 = most bytes. The chunks from the one that holds the position on, and the first in any case. */
const statement = defineStatement({
  name: 'read_runner_job_log',
  text: /* sql */ `
    select l.position::float8 as position, l.text from runner_job_logs l
    where l.job_id = $1 and l.position < $2::bigint + $3::bigint and l.position >= coalesce((
      select max(b.position) from runner_job_logs b where b.job_id = $1 and b.position <= $2::bigint), 0)
    order by l.position`,
});

/** Moves back to the beginning of the character at a byte. */
function startOfCharacter(bytes: Buffer, at: number): number {
  let start = Math.min(at, bytes.length);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

/**
 * Returns a part of the log of a job, from a byte on; secrets are masked.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member, or a guest
 */
export async function readLog(ctx: Context, jobId: string, { offset: given }: ReadLog): Promise<LogPage> {
  // The job first: a log that it says to be whole is read after that.
  const job = await readJob(ctx, 'runner.read', jobId);
  const { log_size: size, status, is_log_truncated: truncated, is_log_deleted: deleted } = job;
  const from = Math.min(given, size);
  const rows = await run<{ position: number; text: string }>(ctx.db, statement, [jobId, from, PAGE_BYTES]);
  const all = Buffer.from(rows.map(({ text }) => text).join(''));
  const first = rows[0]?.position ?? 0;
  const start = startOfCharacter(all, from - first);
  const end = startOfCharacter(all, start + PAGE_BYTES);
  const offset = rows.length > 0 ? first + start : from;
  const next_offset = offset + end - start;
  return {
    job_id: jobId,
    offset,
    text: all.subarray(start, end).toString(),
    next_offset,
    size: Math.max(size, next_offset),
    truncated,
    deleted,
    complete: !isOpen(status) && next_offset >= size,
  };
}
