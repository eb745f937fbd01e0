import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { DomainError, type ErrorCode } from '../platform/errors.js';
import { envelope } from './envelope.js';
import { newId } from '../platform/ids.js';

const STATUS_OF: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** Returns a complete error response for a request that Node's parser rejected before Koa. */
function rawAnswer(status: number, message: string, code: ErrorCode = 'INVALID_REQUEST'): string {
  const id = newId();
  const body = JSON.stringify(envelope(new DomainError(code, message, { status }), id));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Correlation-ID: ${id}`,
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Gives Node's built-in error responses (bad HTTP, large headers, timeouts, Expect, missing Host) the common envelope. */
export function answerRawErrors(server: Server): void {
  // Node's own 400 for a missing Host has no body and no event, so the application rejects it (app.ts).
  Object.assign(server, { requireHostHeader: false });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_OF[error.code ?? ''] ?? 400;
    socket.end(
      rawAnswer(
        status,
        status === 431
          ? 'The request headers are too large'
          : status === 408
            ? 'The request took too long'
            : 'This is not a valid HTTP request',
      ),
    );
  });
  // CONNECT is not supported; Node would close the connection without a response.
  server.on('connect', (_request, socket: Socket) =>
    socket.end(rawAnswer(405, 'CONNECT is not allowed here', 'METHOD_NOT_ALLOWED')),
  );
  server.on('checkExpectation', (_request, response) => {
    const id = newId();
    const error = new DomainError('INVALID_REQUEST', 'Only Expect: 100-continue is supported', { status: 417 });
    const body = JSON.stringify(envelope(error, id));
    response.writeHead(417, {
      'X-Correlation-ID': id,
      'Content-Type': 'application/json; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    });
    response.end(body);
  });
}
