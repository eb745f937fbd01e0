import { Readable } from 'node:stream';
import type { Context } from '../../core/context.js';
import { Reply } from '../../endpoint/endpoint.js';
import { coveredTeams } from './covered-teams.js';
import { findEntries, streamRecords } from './find-entries.js';
import { MAX_ENTRIES } from './filters.js';

/** Turns chunks of JSON into a response. */
export const streamed = (chunks: AsyncIterable<string>, headers: Record<string, string> = {}): Reply<Readable> =>
  new Reply(Readable.from(chunks), { headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers } });

/**
 * Returns everything of one request in the teams that the caller administers, oldest first; nothing for an id that is unknown or of other
 * teams. X-Truncated reports more than 10,000 entries.
 * @throws PERMISSION_DENIED
 */
export async function correlate(ctx: Context, correlation_id: string): Promise<Reply<Readable>> {
  const teams = await coveredTeams(ctx);
  const window = { limit: MAX_ENTRIES + 1, offset: 0, oldestFirst: true };
  const found = await findEntries(ctx, { teams, filters: { correlation_id } }, window);
  const keys = found.slice(0, MAX_ENTRIES);
  async function* body() {
    yield `${JSON.stringify({ correlation_id, count: keys.length }).slice(0, -1)},"entries":[`;
    yield* streamRecords(ctx, keys);
    yield ']}';
  }
  return streamed(body(), found.length > keys.length ? { 'X-Truncated': 'true' } : {});
}
