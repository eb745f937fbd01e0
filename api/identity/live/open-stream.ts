import { type Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { type Cursor, decodeCursor } from './cursor.js';
import { type Credential, EventStream } from './event-stream.js';
import { liveHub } from './live-hub.js';
import { buildFilter } from './read-events.js';
import type { FollowEvents } from './schema.js';

/** Headers of a stream: no cache keeps it, and no proxy collects it. */
export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

function findCredential({ actor }: Context): Credential {
  if (actor.type === 'user') return { kind: 'session', id: actor.sessionId, expiresAt: actor.tokenExpiresAt };
  if (actor.type === 'pat') return { kind: 'token', id: actor.tokenId };
  throw new Error(`${actor.type} opens no stream`);
}

/** Returns the cursor of the header that browsers send when they connect again. @throws INVALID_REQUEST */
function readLastEventId(header: string | undefined): Cursor | null {
  if (header === undefined || header === '') return null;
  const cursor = decodeCursor(header);
  if (cursor === null) throw invalid('Last-Event-ID is no cursor of this list');
  return cursor;
}

/**
 * Opens a stream of the changes that the caller may read, as they are committed. It goes on after the header Last-Event-ID, else after `after`, else
 * now; and ends with the caller's session, and with the token with which it was opened.
 * @throws RATE_LIMIT_EXCEEDED, CURSOR_EXPIRED, INVALID_REQUEST
 */
export async function openStream(ctx: Context, query: FollowEvents, lastEventId: string | undefined): Promise<EventStream> {
  const { DATABASE_URL, SESSION_IDLE_HOURS, LIVE_STREAMS, LIVE_STREAMS_PER_USER } = ctx.config;
  const cursor = readLastEventId(lastEventId) ?? query.after ?? null;
  const filter = buildFilter(ctx, query);
  const hub = liveHub(DATABASE_URL, SESSION_IDLE_HOURS * 3_600);
  hub.checkRoom(filter.userId, { streams: LIVE_STREAMS, ofUser: LIVE_STREAMS_PER_USER });
  const stream = new EventStream(filter, findCredential(ctx), ctx.db, cursor);
  await hub.open(stream, cursor, ctx.log);
  return stream;
}
