import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { openStream, STREAM_HEADERS } from './open-stream.js';
import { readEvents } from './read-events.js';
import { LiveEvents, ReadEvents } from './schema.js';

/** Whether a client asks for a stream, as browsers' EventSource does. */
const wantsStream = (accept = ''): boolean => accept.includes('text/event-stream');

export const liveRoutes: Endpoint[] = [
  endpoint({
    id: 'readEvents',
    method: 'get',
    path: '/api/events',
    tag: 'Events',
    summary: 'Follow changes',
    description:
      'Every committed change of what the caller may read, oldest first, in an order without gaps: what is given out later never belongs before what was given out. Take a `cursor` first, then read your lists, then ask for what came `after`. Events say what changed and hold none of its contents; the rights are those of the moment at which an event is given out. Cursors are valid for 30 days; an older one, or one of a database that was restored since, is answered with 410 and `CURSOR_EXPIRED`. With `Accept: text/event-stream` the response is a stream of Server-Sent Events: each `data` is an event, each `id` a cursor, and a client that connects again with `Last-Event-ID` misses nothing and gets nothing twice. A stream ends with its session, and when the token with which it was opened expires or is revoked; connect again with a new one.',
    ability: 'event.read',
    query: ReadEvents,
    response: LiveEvents,
    eventStream: 'An event in each `data`, and its cursor in each `id`',
    errors: [410, 429],
    handle: async ({ ctx, query, headers }) => {
      if (!wantsStream(headers.accept)) return readEvents(ctx, query);
      const stream = await openStream(ctx, query, headers['last-event-id'] as string | undefined);
      return new Reply(stream, { headers: STREAM_HEADERS });
    },
  }),
];
