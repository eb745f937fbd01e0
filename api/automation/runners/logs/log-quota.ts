import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { giveBackStatement, makeRoomStatement, reserveStatement } from './log-quota.sql.js';

/**
 * Bytes of a block. A job reserves whole blocks, so most chunks leave the team's sum alone, and jobs of a team rarely wait for each other.
 */
const BLOCK_BYTES = 16_384;
/** What each part of a log costs beside its text: its row and two index entries. Otherwise single bytes would cost nothing. */
const PART_BYTES = 128;
/** More logs than this are not deleted for one chunk, beside one for each block: the quota may have been lowered. */
const MAX_DELETED = 2;

const BLOCKS_PER_MIB = 1_048_576 / BLOCK_BYTES;

/** Returns the blocks of a log of this many bytes in this many parts. */
export const countBlocks = (bytes: number, parts: number): number => Math.ceil((bytes + parts * PART_BYTES) / BLOCK_BYTES);

/**
 * Reserves blocks of the team's quota for a job that the caller has locked. The logs of jobs that ended first make room. Returns false if there is
 * no room: the logs of open jobs fill the quota. The caller's transaction should end soon, because other jobs of the team wait.
 */
export async function reserveBlocks(ctx: Context, teamId: string, blocks: number): Promise<boolean> {
  const quota = ctx.config.RUNNER_LOG_MB_PER_TEAM * BLOCKS_PER_MIB;
  const [reserved] = await run<{ excess: number }>(ctx.db, reserveStatement, [teamId, blocks, quota]);
  const excess = reserved?.excess ?? 0;
  if (excess <= 0) return true;
  const [room] = await run<{ freed: number }>(ctx.db, makeRoomStatement, [teamId, excess, blocks + MAX_DELETED]);
  // With a lowered quota the sum may stay too large for a while, but it never grows.
  if (room && room.freed >= Math.min(excess, blocks)) return true;
  await run(ctx.db, giveBackStatement, [teamId, blocks]);
  return false;
}
