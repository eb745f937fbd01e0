import type { IncomingMessage, ServerResponse } from 'node:http';

/** Longest silence of a client that reads a file, a long list or a stream, ms. */
const STALLED_MS = 60_000;

/** Closes the connection of a client that stops reading, which must not keep a file or a connection to the store open. */
export function closeStalled(request: IncomingMessage, response: ServerResponse): void {
  response.setTimeout(STALLED_MS, () => request.socket.destroy());
}
