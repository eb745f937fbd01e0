import { Client, type Dispatcher } from 'undici';
import { guardedConnector } from './connect.js';
import { failureOf, OutboundFailure } from './failure.js';
import type { OutboundPolicy } from './policy.js';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof METHODS)[number];

export interface OutboundRequest {
  method: Method;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** For everything together: name, connection, sending, the whole answer. */
  timeoutMs: number;
  /** Of the answer; 64 kB where absent (F5). */
  maxBytes?: number;
}

export interface OutboundResponse {
  status: number;
  /** What the sender is asked to wait, ms. */
  retryAfterMs: number | null;
  /** Its beginning, as text; empty where it came compressed, which nobody asked for. */
  body: string;
  isCut: boolean;
}

const MAX_BYTES = 65_536;
const MAX_HEADERS = 16_384;
const MAX_URL = 8_192;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Theirs are the connection and the framing of the message. */
const OURS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding)$/i;

/** @throws OutboundFailure url_invalid */
function addressOf(text: string, { allowLoopback, ports }: OutboundPolicy): URL {
  if (text.length > MAX_URL || !URL.canParse(text)) throw new OutboundFailure('url_invalid');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundFailure('url_invalid', 'http and https only');
  if (url.username !== '' || url.password !== '') throw new OutboundFailure('url_invalid', 'it holds a name or a password');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (!allowLoopback && !ports.includes(port)) throw new OutboundFailure('url_blocked', `port ${port}`);
  return url;
}

/** @throws OutboundFailure header_invalid, without the value */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name) || OURS.test(name)) throw new OutboundFailure('header_invalid');
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new OutboundFailure('header_invalid', name);
  }
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : null;
}

/** The answer's beginning. What is beyond is never read: the connection is closed on it. */
async function read(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

/** Text that the database can hold. Nothing is unpacked: a kilobyte may hold a gigabyte. */
const textOf = (bytes: Buffer, encoding: string | string[] | undefined): string =>
  encoding === undefined || encoding === 'identity' ? new TextDecoder().decode(bytes).replaceAll('\0', '') : '';

/**
 * Sends one request to an address that a person wrote: only to the open net whatever name leads elsewhere, without cookies,
 * redirects or a connection kept. Any status is an answer, a redirect too.
 * @throws OutboundFailure
 * Source: decision F5; design notes on guards; durability notes, T-SSRF.
 */
export async function sendRequest(policy: OutboundPolicy, request: OutboundRequest): Promise<OutboundResponse> {
  const { method, headers, body, timeoutMs, maxBytes = MAX_BYTES } = request;
  const url = addressOf(request.url, policy);
  checkHeaders(headers);
  const client = new Client(url.origin, {
    connect: guardedConnector(policy, timeoutMs),
    pipelining: 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: MAX_HEADERS,
  });
  try {
    const response = await client.request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: body ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { bytes, isCut } = await read(response.body, maxBytes);
    return {
      status: response.statusCode,
      retryAfterMs: retryAfter(response.headers['retry-after']),
      body: textOf(bytes, response.headers['content-encoding']),
      isCut,
    };
  } catch (thrown) {
    throw failureOf(thrown);
  } finally {
    void client.destroy().catch(() => undefined);
  }
}
