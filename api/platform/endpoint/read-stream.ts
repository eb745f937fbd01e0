import type { IncomingMessage } from 'node:http';
import { DomainError, invalid } from '../errors.js';
import type { UploadLimits } from './read-upload.js';

const CLOSE = { headers: { Connection: 'close' } };

const tooLarge = (maxBytes: number) => new DomainError('PAYLOAD_TOO_LARGE', `The file exceeds ${maxBytes} bytes`, CLOSE);
const incomplete = (cause?: unknown) => invalid('The request body is incomplete', { cause });
const timedOut = () =>
  invalid('The request took too long', {
    ...CLOSE,
    status: 408,
    detail: 'Nothing was stored. Send the file over a faster connection.',
  });

/** @throws UNSUPPORTED_MEDIA_TYPE compressed | PAYLOAD_TOO_LARGE as announced */
function checkHead({ headers }: IncomingMessage, maxBytes: number): void {
  if (headers['content-encoding'] !== undefined) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the bytes without Content-Encoding', CLOSE);
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * Reads the bytes of a request as they arrive; at no time is more in memory than a few chunks. If the reader stops early, the rest is discarded
 * until the connection closes.
 * @throws UNSUPPORTED_MEDIA_TYPE | PAYLOAD_TOO_LARGE | INVALID_REQUEST incomplete (400) or too slow (408)
 */
export async function* readStream(request: IncomingMessage, { maxBytes, timeoutMs }: UploadLimits): AsyncGenerator<Buffer> {
  checkHead(request, maxBytes);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    request.emit('error', timedOut());
  }, timeoutMs);
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw isLate ? timedOut() : incomplete(error);
  } finally {
    clearTimeout(timer);
    // A connection closed with unread bytes is reset, and the client loses the response.
    request.resume();
  }
  if (!request.complete) throw incomplete();
}
