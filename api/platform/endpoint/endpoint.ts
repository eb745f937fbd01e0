import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Ability } from '../access/access.js';
import type { Context, Services } from '../context.js';
import type { LimitName } from './limits.js';
import type { Exactness } from './read-body.js';
import type { IncomingFile } from './read-upload.js';
import type { Scope } from '../access/scopes.js';

/** The bytes of a file, in a form or a response. */
export const Bytes = z.string().meta({ id: 'Bytes', format: 'binary', description: 'Bytes of a file' });

/** The same of at least one byte, as a request body. */
export const SomeBytes = z
  .string()
  .min(1)
  .meta({ id: 'SomeBytes', format: 'binary', description: 'Bytes of a file, at least one' });

/** A response with headers, or with another of the declared statuses. */
export class Reply<Body = unknown> {
  constructor(
    readonly body: Body,
    readonly options: { status?: number; headers?: Record<string, string> } = {},
  ) {}
}

/** JSON already serialized by PostgreSQL; sent unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Some rows of a list as JSON, separated by commas. */
export interface Part {
  text: string;
  rows: number;
  /** Whether rows follow. */
  more: boolean;
  /** Cursor of the last row, where `before` pages. */
  last?: string | undefined;
}

/** A long page, which ends where it has its maximum of bytes. */
export class Parts {
  constructor(readonly read: AsyncIterable<Part>) {}
}

/** A page that the handler has cut to `limit` itself. */
export interface CutPage {
  /** A JSON array, whole, in chunks or in parts, or an object that holds the rows. With parts `count` and `more` follow from them. */
  body: string | AsyncIterable<string> | Parts | object;
  /** Its number of rows. */
  count: number;
  /** Whether another page follows. */
  more: boolean;
  /** Cursor of the last row, where `before` pages. */
  last?: string | undefined;
  /** Whether rows were omitted that a caller may take for absent. */
  truncated?: boolean;
  /** Length of the whole list, where cheap. */
  total?: number | undefined;
  /** Rows before this page, if they are not `offset`. */
  offset?: number;
  /** Further response headers. */
  headers?: Record<string, string>;
}

export interface Request<Params, Query, Body> {
  ctx: Context;
  params: Params;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
  /** Reads the id of the user who is signed in to the web app in this browser, not impersonating; null for none. */
  browserUserId: () => Promise<string | null>;
  /** Calls the listener when the client closes its connection; returns a function that stops listening. */
  onHangUp: (listener: () => void) => () => void;
}

/** A request whose body is a form with one file. `body` holds the form's fields. */
export interface UploadRequest<Params, Query, Body> extends Request<Params, Query, Body> {
  file: IncomingFile;
}

/** A request whose body is the bytes of one file. */
export interface StreamRequest<Params, Query> extends Request<Params, Query, undefined> {
  bytes: AsyncIterable<Buffer>;
}

/** A request authenticated by a signature over its exact bytes, or by its address, instead of a credential. */
export interface RawRequest {
  services: Services;
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** What the route's `admit` has returned. */
  admitted: unknown;
  /** Counts the call by the route's limit for an id, or for the client's address. @throws RATE_LIMIT_EXCEEDED */
  count: (id: string | null) => Promise<void>;
  requestId: string;
  ip: string | null;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface EndpointTexts {
  /** `operationId` in the document and method name of the client: a verb and its object, such as `listTasks`. */
  id: string;
  /** An earlier `id`, which the client keeps as a deprecated name. */
  formerId?: string;
  method: Method;
  /** With `:name` parameters, each declared in `params`. */
  path: `/${'api' | 'app'}/${string}`;
  /** Groups routes in the API document. */
  tag: string;
  summary: string;
  description?: string;
  response: z.ZodType;
  /** Success status; 201 for a new record. */
  status?: 200 | 201 | 202 | 204;
  /** Further success statuses. */
  alsoStatus?: (200 | 201 | 202 | 204 | 206)[];
  /** Error statuses beyond those that the declaration implies (401, 403 for a scope, 413, 415, 422, 429, 5xx). */
  errors?: (400 | 401 | 402 | 403 | 404 | 406 | 409 | 410 | 413 | 416 | 422 | 429)[];
  limit?: LimitName;
  /** Maximum body size, bytes; defaults to 1 MB. */
  bodyLimit?: number;
  /** Whether the body is refused if programs read it differently (exact-json.ts): what is shown, hashed and executed must be one value. */
  exactJson?: Exactness;
  /** The route still works until `sunset` (both are dates, at least 180 days apart); `successor` is the path to use instead. */
  deprecated?: { since: string; sunset: string; successor: `/api/${string}` };
  /** Responds with an HTML page, for users redirected here by another site. */
  page?: true;
  /** Responds with the bytes of a file: the handler returns a Reply whose body is a Readable, with Content-Type and Content-Length. */
  download?: true;
  /** Example body for the API document. */
  example?: unknown;
  /** False: the response holds a secret, signs a user in, or depends on what the caller may read now, so it is never stored, and no Idempotency-Key is accepted. */
  storable?: false;
  /** ETag of the response: `kept` for If-None-Match and 304, `change` for the new one after an If-Match, `created` for that of a new record. */
  etag?: 'kept' | 'change' | 'created';
  /** The response may also be an event stream, whose events are so described. */
  eventStream?: string;
  /** True: the response uses the search index, which may be behind, as X-Search-Indexing then reports. */
  searches?: true;
  /** True: a hard cap may truncate the list, as X-Truncated then reports. */
  capped?: true;
}

/** The rows of a page with their related rows; `truncated` if a hard cap omitted some. */
interface ListPage {
  rows: unknown[];
  truncated: boolean;
}

export interface EndpointSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends EndpointTexts {
  /** Row of the access table; `public` for the few routes without a credential. */
  ability: Ability | 'public';
  /**
   * Token scope of this route; enforced of every token with `scopeEnforced`, or everywhere in strict mode
   * (docs/decisions/identity.md#token-scopes).
   */
  scope?: Scope;
  scopeEnforced?: true;
  /** A second limit, which depends on the body. */
  getLimit?: (body: unknown) => LimitName | undefined;
  /** Accepts tokens of outside agents (`mcp_only`), which no other route does. */
  forAgents?: true;
  /** Accepts an expired JWT while its session is active, for renewals. */
  allowExpiredJwt?: true;
  params?: P;
  query?: Q;
  body?: B;
  /** The body is multipart/form-data with one file part; `body` declares its other fields. Set by `uploadEndpoint`. */
  upload?: { maxBytes: number };
  /** The body is the bytes of one file, which the handler reads as they arrive. Set by `streamEndpoint`. */
  stream?: { maxBytes: number };
  /**
   * What a list adds to the paging that its query declares (pages.ts). The handler returns an array; http/lists/paging.ts adds Link and
   * X-Total-Count. `total`: counts the whole list, where cheap; `fill`: loads related rows for the rows of a page only. `cut`: the
   * handler returns a `CutPage` instead, or a 304. `batch`: rows that are read at once although each may be large; the default reads 500.
   */
  pages?: {
    cut?: true;
    /** A `CutPage` has its `total`. */
    counted?: true;
    batch?: number;
    total?: (request: Request<z.output<P>, z.output<Q>, z.output<B>>) => Promise<number>;
    fill?: (request: Request<z.output<P>, z.output<Q>, z.output<B>>, rows: unknown[]) => Promise<ListPage>;
  };
  handle: (request: Request<z.output<P>, z.output<Q>, z.output<B>>) => Promise<unknown>;
}

export interface RawEndpointSpec extends EndpointTexts {
  ability: 'public';
  raw: true;
  /** Anyone may call: connections count for the client's address, and the handler counts the call once it knows for whom. */
  open?: true;
  /** Decides before the body is read, and counts the call for whom it finds. */
  admit?: (request: Omit<RawRequest, 'body' | 'admitted'>) => Promise<unknown>;
  params?: z.ZodObject;
  handle: (request: RawRequest) => Promise<unknown>;
}

/** What the router, the document and the tests read. */
export type Endpoint = (EndpointSpec<z.ZodType, z.ZodType, z.ZodType> & { raw?: false }) | RawEndpointSpec;

/**
 * Declares one route: router, validation, scope check, OpenAPI text and the check of answered statuses all read this object.
 * The handler is one line or two: it calls an operation.
 */
export function endpoint<P extends z.ZodType = z.ZodObject, Q extends z.ZodType = z.ZodObject, B extends z.ZodType = z.ZodObject>(
  spec: EndpointSpec<P, Q, B>,
): Endpoint {
  return spec as unknown as Endpoint;
}

/**
 * Declares a route that takes one file as multipart/form-data. The handler gets the file while it arrives, after the fields before it were
 * validated.
 */
export function uploadEndpoint<
  P extends z.ZodType = z.ZodObject,
  Q extends z.ZodType = z.ZodObject,
  B extends z.ZodType = z.ZodObject,
>(
  spec: Omit<EndpointSpec<P, Q, B>, 'handle' | 'upload' | 'pages'> & {
    upload: { maxBytes: number };
    handle: (request: UploadRequest<z.output<P>, z.output<Q>, z.output<B>>) => Promise<unknown>;
  },
): Endpoint {
  return spec as unknown as Endpoint;
}

/** Declares a route whose body is the bytes of one file, without a form. The handler reads them as they arrive. */
export function streamEndpoint<P extends z.ZodType = z.ZodObject, Q extends z.ZodType = z.ZodObject>(
  spec: Omit<EndpointSpec<P, Q, z.ZodType>, 'handle' | 'upload' | 'stream' | 'pages' | 'body'> & {
    stream: { maxBytes: number };
    handle: (request: StreamRequest<z.output<P>, z.output<Q>>) => Promise<unknown>;
  },
): Endpoint {
  return spec as unknown as Endpoint;
}

/** Declares a route that wants the unread bytes of the body. */
export const rawEndpoint = (spec: Omit<RawEndpointSpec, 'raw' | 'ability'>): Endpoint => ({
  ...spec,
  raw: true,
  ability: 'public',
});

/** Returns whether the route accepts an Idempotency-Key. */
export const takesKey = (spec: Endpoint): boolean =>
  spec.method === 'post' && !spec.raw && !spec.upload && !spec.stream && spec.ability !== 'public' && spec.storable !== false;

/** Every status a route may answer with; anything else is a fault (checked in tests, see dispatch.ts). */
export function declaredStatuses(spec: Endpoint): Set<number> {
  const statuses = [spec.status ?? 200, ...(spec.alsoStatus ?? []), ...(spec.errors ?? []), 400, 500, 503];
  if (spec.ability !== 'public') statuses.push(401, 403);
  if (spec.etag === 'kept') statuses.push(304);
  if (spec.limit) statuses.push(429);
  // Node's parser answers before the route: escaped parameters count as headers.
  if (!spec.raw && spec.query) statuses.push(431);
  if (spec.raw || spec.body) statuses.push(413);
  if (!spec.raw && spec.body) statuses.push(415, 422);
  if (!spec.raw && spec.upload) statuses.push(408);
  if (!spec.raw && spec.stream) statuses.push(408, 413, 415);
  // Prefer: handling=strict makes unknown fields of any request a 422.
  if (!spec.raw) statuses.push(422);
  if (takesKey(spec)) statuses.push(409, 422);
  return new Set(statuses);
}
