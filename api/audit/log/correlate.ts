import { Readable } from 'node:stream';
import { type Context, requireUser } from '../../platform/context.js';
import { Reply } from '../../platform/endpoint/endpoint.js';
import { coveredTeams } from './covered-teams.js';
import type { EntryKey } from './entries.sql.js';
import { takeExportSlot } from './export-slots.js';
import { findEntries, streamRecords, withinBytes } from './find-entries.js';
import { MAX_ENTRIES } from './filters.js';

/** Turns chunks of JSON into a response. */
export const streamed = (chunks: AsyncIterable<string>, headers: Record<string, string> = {}): Reply<Readable> =>
  new Reply(Readable.from(chunks), { headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers } });

/** Bytes of the answer around its entries. */
const FRAME_BYTES = 200;

async function replyWith(ctx: Context, correlation_id: string, found: EntryKey[]): Promise<Reply<Readable>> {
  const keys = await withinBytes(ctx, found.slice(0, MAX_ENTRIES), ctx.config.LIST_MAX_BYTES - FRAME_BYTES);
  async function* body() {
    yield `${JSON.stringify({ correlation_id, count: keys.length }).slice(0, -1)},"entries":[`;
    yield* streamRecords(ctx, keys);
    yield ']}';
  }
  return streamed(body(), found.length > keys.length ? { 'X-Truncated': 'true' } : {});
}

/**
 * Returns everything of one request in the teams that the caller administers, oldest first; nothing for an id that is unknown or of other
 * teams. X-Truncated reports more than 10,000 entries or 10 MB. A response that is read slowly holds its keys and two chunks, so one user has few.
 * @throws PERMISSION_DENIED; INTERNAL_ERROR 503 while the caller's other responses are being read
 */
export async function correlate(ctx: Context, correlation_id: string): Promise<Reply<Readable>> {
  const release = await takeExportSlot(`${requireUser(ctx)}/correlate`);
  try {
    const teams = await coveredTeams(ctx);
    const window = { limit: MAX_ENTRIES + 1, offset: 0, oldestFirst: true };
    const reply = await replyWith(ctx, correlation_id, await findEntries(ctx, { teams, filters: { correlation_id } }, window));
    reply.body.once('close', release);
    return reply;
  } catch (error) {
    release();
    throw error;
  }
}
