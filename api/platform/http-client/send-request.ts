import { Client, type Dispatcher } from 'undici';
import { guardedConnector } from './connect.js';
import { toFailure, OutboundFailure } from './failure.js';
import { isException, type OutboundPolicy } from './policy.js';
import { currentSpan } from '../telemetry/tracing/current-span.js';
import type { Span } from '../telemetry/tracing/tracer.js';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
type Method = (typeof METHODS)[number];

export interface OutboundRequest {
  method: Method;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Covers everything: lookup, connection, request and the whole response. */
  timeoutMs: number;
  /** Limit of the response; defaults to 64 kB. */
  maxBytes?: number;
  /** Headers of the response to return, in lower case. */
  wanted?: readonly string[];
}

export interface OutboundResponse {
  status: number;
  /** Wait requested by the receiver, ms. */
  retryAfterMs: number | null;
  /** Beginning of the body as text; empty for a compressed one, which was not requested. */
  body: string;
  isCut: boolean;
  /** Those of `wanted` that it has. */
  headers: Record<string, string>;
}

const MAX_BYTES = 65_536;
const MAX_HEADERS = 16_384;
const MAX_URL = 8_192;
/** Name of a header (RFC 9110, token). */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Headers of the connection, the framing and the trace; callers may not set them. */
export const TRANSPORT_HEADERS =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding|traceparent|tracestate)$/i;

export const getPort = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));

/**
 * Parses an address written by a user. Hosts are compared as written; addresses are checked when a connection is opened.
 * @throws OutboundFailure url_invalid | url_blocked a port that is not allowed
 */
export function parseDestination(policy: OutboundPolicy, text: string): URL {
  if (text.length > MAX_URL || !URL.canParse(text)) throw new OutboundFailure('url_invalid');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundFailure('url_invalid', 'use http or https');
  if (url.username !== '' || url.password !== '') throw new OutboundFailure('url_invalid', 'credentials in URLs are not allowed');
  const port = getPort(url);
  const isOpened = isException(policy, url.hostname, port);
  if (policy.httpsOnly && url.protocol !== 'https:' && !(isOpened && policy.exceptions?.thisMachine)) {
    throw new OutboundFailure('url_invalid', 'use https');
  }
  // An exception may name the address to which the host resolves, with a port.
  const isDecidedLater = isOpened || (policy.exceptions?.hosts.length ?? 0) > 0;
  if (!policy.allowLoopback && !policy.ports.includes(port) && !isDecidedLater) {
    throw new OutboundFailure('url_blocked', `port ${port}`);
  }
  return url;
}

/** @throws OutboundFailure header_invalid, without the value */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || TRANSPORT_HEADERS.test(name)) throw new OutboundFailure('header_invalid');
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new OutboundFailure('header_invalid', name);
  }
}

/** Parses seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : null;
}

/** Reads the beginning of the response, then closes the connection without reading the rest. */
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

/** Returns text that PostgreSQL can store. Never decompresses: a kilobyte may expand to a gigabyte. */
const toText = (bytes: Buffer, encoding: string | string[] | undefined): string =>
  encoding === undefined || encoding === 'identity' ? new TextDecoder().decode(bytes).replaceAll('\0', '') : '';

/**
 * Sends one request to an address written by a user: to public addresses only, whatever name leads elsewhere; without cookies,
 * redirects or a kept connection. Any status is a response, redirects included. See docs/adr/0010-outbound-requests.md.
 * @throws OutboundFailure
 */
export async function sendRequest(policy: OutboundPolicy, request: OutboundRequest): Promise<OutboundResponse> {
  const url = parseDestination(policy, request.url);
  checkHeaders(request.headers);
  const span = currentSpan.getStore()?.begin({ name: request.method, kind: 'client' });
  return span ? sendTraced(policy, url, request, span) : send(policy, url, request);
}

/** Tells the receiver the trace. Of the address the span has the host only: the rest may hold secrets. */
async function sendTraced(policy: OutboundPolicy, url: URL, request: OutboundRequest, span: Span): Promise<OutboundResponse> {
  const host = { 'server.address': url.hostname };
  try {
    const headers = { ...request.headers, traceparent: span.traceparent };
    const response = await send(policy, url, { ...request, headers });
    span.end({ ...host, 'http.response.status_code': response.status }, response.status >= 400);
    return response;
  } catch (thrown) {
    span.end({ ...host, 'error.type': toFailure(thrown).reason }, true);
    throw thrown;
  }
}

/** @throws OutboundFailure */
async function send(policy: OutboundPolicy, url: URL, request: OutboundRequest): Promise<OutboundResponse> {
  const { method, headers, body, timeoutMs, maxBytes = MAX_BYTES, wanted = [] } = request;
  let wasOpen = false;
  const connect = guardedConnector(policy, getPort(url), timeoutMs);
  const client = new Client(url.origin, {
    connect: (options, done) =>
      connect(options, (...opened) => {
        wasOpen ||= opened[0] === null;
        done(...opened);
      }),
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
    const found = wanted.flatMap((name): [string, string][] => {
      const value = [response.headers[name]].flat()[0];
      return value === undefined ? [] : [[name, value]];
    });
    return {
      headers: Object.fromEntries(found),
      status: response.statusCode,
      retryAfterMs: retryAfter(response.headers['retry-after']),
      body: toText(bytes, response.headers['content-encoding']),
      isCut,
    };
  } catch (thrown) {
    throw toFailure(thrown, wasOpen);
  } finally {
    void client.destroy().catch(() => undefined);
  }
}
