import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { DomainError } from '../../../platform/errors.js';
import { Reply } from '../../../platform/endpoint/endpoint.js';
import { etagMatcher, notModified, revalidated } from '../../../platform/endpoint/etags.js';
import { cleanName } from './rules.js';
import type { ByteRange } from './store/object-store.js';

/** Characters that may stand in an extended value (RFC 8187); encodeURIComponent leaves some others. */
const extended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns Content-Disposition (RFC 6266) with a plain name for old clients. */
export function contentDisposition(title: string, kind: 'attachment' | 'inline' = 'attachment'): string {
  const name = cleanName(title) || 'file';
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/gu, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${extended(name)}`;
}

/**
 * Parses a Range header with one range of bytes. Undefined: send everything, because there is no header, it is not valid, or it names
 * several ranges. Null: no byte of the file is in the range.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '') return Number(to) === 0 || size === 0 ? null : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== '' && Number(to) < Number(from)) return undefined;
  if (Number(from) >= size) return null;
  return { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/** Headers of every download. Nothing in the file may run, wherever it is opened. */
export const downloadHeaders = (name: string, contentType: string) => ({
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Content-Type': contentType,
  'Content-Disposition': contentDisposition(name),
});

/** Headers of a picture in a page. `type` is what its bytes show, not what its sender said. */
export const pictureHeaders = (name: string, type: string) => ({
  ...downloadHeaders(name, type),
  'Content-Disposition': contentDisposition(name, 'inline'),
});

/** Stored bytes and the headers of their download. */
interface SentFile {
  size: number;
  /** Of the bytes, hexadecimal: the ETag. */
  sha256: string;
  headers: Record<string, string>;
}

/**
 * Answers with stored bytes, one range of them, or 304, as the headers of the request ask.
 * @throws INVALID_REQUEST 416 a range outside of the file; what `open` throws
 */
export async function sendBytes(
  { size, sha256, headers }: SentFile,
  asked: IncomingHttpHeaders,
  open: (range?: ByteRange) => Promise<Readable>,
): Promise<Reply> {
  const header = (name: string): string | undefined => [asked[name]].flat()[0];
  const etag = `"${sha256}"` as const;
  if (etagMatcher(header('if-none-match'))?.(etag)) return notModified(etag);
  // A partial copy of other bytes must not be completed with these.
  const isSame = header('if-range') === undefined || header('if-range') === etag;
  const range = isSame ? parseRange(header('range'), size) : undefined;
  if (range === null) {
    const headers = { 'Content-Range': `bytes */${size}` };
    const detail = `The file has ${size} bytes.`;
    throw new DomainError('INVALID_REQUEST', 'The range is outside of the file', { detail, status: 416, headers });
  }
  const answer = {
    ...revalidated(etag),
    ...headers,
    'Accept-Ranges': 'bytes',
    'Content-Length': String(range ? range.last - range.first + 1 : size),
    ...(range && { 'Content-Range': `bytes ${range.first}-${range.last}/${size}` }),
  };
  return new Reply(await open(range), { status: range ? 206 : 200, headers: answer });
}
