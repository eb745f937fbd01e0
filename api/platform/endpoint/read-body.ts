import type { IncomingMessage } from 'node:http';
import { DomainError, invalid, invalidFields } from '../errors.js';
import { nextTurn } from '../event-loop.js';
import { checkExactJson, MAX_DEPTH } from './exact-json.js';

/** Time for a whole body, ms. Node’s own limit is that of the longest upload. */
const TIMEOUT_MS = 30_000;

/** Larger bodies are parsed in a separate turn of the event loop, so that many concurrent ones do not block other requests. */
const MAX_SHARED_TURN_BYTES = 32 * 1024;

const tooLarge = (limit: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The request body exceeds ${limit} bytes`, { headers: { Connection: 'close' } });

/** Rejects by Content-Length before reading a byte. @throws PAYLOAD_TOO_LARGE */
export function refuseLargeBody(request: IncomingMessage, limit: number): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/**
 * Returns the exact bytes of the body.
 * @throws PAYLOAD_TOO_LARGE over `limit` bytes; INVALID_REQUEST if the client disconnects early, or 408 if it sends too slowly
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    refuseLargeBody(request, limit);
    const chunks: Buffer[] = [];
    let size = 0;
    const slow = () => end(invalid('The request took too long', { status: 408, headers: { Connection: 'close' } }));
    const timer = setTimeout(slow, TIMEOUT_MS);
    const end = (error?: Error) => {
      clearTimeout(timer);
      request.off('data', take).off('end', done).off('error', broken).off('close', broken);
      if (error) reject(error);
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limit) end(tooLarge(limit));
    };
    const done = () => end();
    const broken = (error?: Error) => end(invalid('The request body is incomplete', { cause: error }));
    // The socket closed before listeners were attached, so no event would follow.
    if (request.destroyed) broken();
    else request.on('data', take).on('end', done).on('error', broken).on('close', broken);
  });
}

const notJson = (message: string) => invalidFields([{ field: 'body', message, type: 'json_invalid' }]);

/** Returns whether the text nests too deeply; ignores brackets inside strings. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return false;
}

/** Whether a body must be one value for every program: always, or only some bodies. */
export type Exactness = boolean | ((body: unknown) => boolean);

/** @throws VALIDATION_ERROR of type json_invalid; INVALID_REQUEST if it must be exact and is not */
export function parseJson(bytes: Buffer, exact: Exactness = false): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notJson('The body is not valid UTF-8');
  }
  // Where it must be exact, checkExactJson refuses depth and says where; JSON.parse itself is not recursive.
  if (exact !== true && isTooDeep(text)) throw notJson(`The body nests deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson('The body is not valid JSON');
  }
  if (typeof exact === 'function' ? exact(value) : exact) checkExactJson(text);
  return value;
}

/**
 * Parses the body as JSON. An empty body is `{}` whatever the Content-Type.
 * @throws UNSUPPORTED_MEDIA_TYPE for anything but uncompressed JSON in UTF-8; PAYLOAD_TOO_LARGE; VALIDATION_ERROR; INVALID_REQUEST
 * if it must be exact and is not (exact-json.ts)
 */
export async function readJson(request: IncomingMessage, limit: number, exact: Exactness = false): Promise<unknown> {
  const bytes = await readBody(request, limit);
  if (bytes.length === 0) return {};
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  const encoding = request.headers['content-encoding'];
  if (!/^application\/([\w.!#$&^-]+\+)?json$/.test(type) || (charset && charset !== 'utf-8') || encoding !== undefined) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json in UTF-8 without Content-Encoding');
  }
  if (bytes.length > MAX_SHARED_TURN_BYTES) await nextTurn();
  return parseJson(bytes, exact);
}
