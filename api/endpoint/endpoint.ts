import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Ability } from '../core/access.js';
import type { Context, Services } from '../core/context.js';
import type { LimitName } from '../http/rate-limit.js';
import type { Scope } from '../core/scopes.js';

/** An answer with headers or another status of the declared ones. */
export class Reply<Body = unknown> {
  constructor(
    readonly body: Body,
    readonly options: { status?: number; headers?: Record<string, string> } = {},
  ) {}
}

/** JSON that PostgreSQL has already written: sent as it is. */
export class JsonText {
  constructor(readonly text: string) {}
}

export interface Request<Params, Query, Body> {
  ctx: Context;
  params: Params;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
}

/** A delivery whose caller is known by a signature over the exact bytes, not by a credential. */
export interface RawRequest {
  services: Services;
  headers: IncomingHttpHeaders;
  body: Buffer;
  requestId: string;
  ip: string | null;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface Described {
  /** `operationId` in the document and method name of the client: a verb and its object, such as `listTasks`. */
  id: string;
  method: Method;
  /** With `:name` parameters, each declared in `params`. */
  path: `/${'api' | 'app'}/${string}`;
  /** Groups routes in the document. */
  tag: string;
  summary: string;
  description?: string;
  response: z.ZodType;
  /** Status of success; 201 for a new record (house rules). */
  status?: 200 | 201 | 202;
  /** Further statuses of success. */
  alsoStatus?: (200 | 201)[];
  /** Statuses it may refuse with, beyond those that its declaration implies (401, 403 of a scope, 413, 415, 422, 429, 5xx). */
  errors?: (400 | 401 | 403 | 404 | 409 | 410 | 422)[];
  limit?: LimitName;
  /** Largest body, bytes; 1 MB unless said otherwise (L). */
  bodyLimit?: number;
  /** It answers with a page, as text, for people whom another site sends here. */
  page?: true;
  /** A worked example of the body, for the document. */
  example?: unknown;
  /** False where the answer holds a secret or signs somebody in: it is never stored, so no Idempotency-Key is taken (J2). */
  storable?: false;
  /** The ETag of its answer: `kept` by the client for If-None-Match and 304, or the one after a `change` that takes If-Match (C3). */
  etag?: 'kept' | 'change';
  /** True where a hard cap may cut the list, which X-Truncated then says (C5). */
  capped?: true;
}

/** The rows of a page with all that belongs to them; `truncated` where a hard cap left some of it out. */
interface Filled {
  rows: unknown[];
  truncated: boolean;
}

export interface EndpointSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends Described {
  /** Row of the table of who may do what; `public` for the few routes before a credential exists. */
  ability: Ability | 'public';
  /** Scope of a token for this route; enforced on the contract's seven routes, or everywhere when set to strict (A10). */
  scope?: Scope;
  scopeEnforced?: true;
  /** A JWT whose time is over is taken as long as its session lives: the way to a new one (A5). */
  allowExpiredJwt?: true;
  params?: P;
  query?: Q;
  body?: B;
  /**
   * A list that goes on: the handler returns an array, Link and X-Total-Count are made of it (paging.ts). `by` names the id that
   * `before` takes, where pages go by cursor; `total` counts the whole list, where that is cheap; `fill` adds to the rows of a page
   * what is read for these alone.
   */
  pages?: {
    by?: string;
    total?: (request: Request<z.output<P>, z.output<Q>, z.output<B>>) => Promise<number>;
    fill?: (request: Request<z.output<P>, z.output<Q>, z.output<B>>, rows: unknown[]) => Promise<Filled>;
  };
  handle: (request: Request<z.output<P>, z.output<Q>, z.output<B>>) => Promise<unknown>;
}

export interface RawEndpointSpec extends Described {
  ability: 'public';
  raw: true;
  handle: (request: RawRequest) => Promise<unknown>;
}

/** What the router, the document and the tests read. */
export type Endpoint = (EndpointSpec<z.ZodType, z.ZodType, z.ZodType> & { raw?: false }) | RawEndpointSpec;

/**
 * Declares one route: router, validation, scope check, OpenAPI text and the check of answered statuses all read this object.
 * The handler is one line or two: it calls a verb.
 */
export function endpoint<P extends z.ZodType = z.ZodObject, Q extends z.ZodType = z.ZodObject, B extends z.ZodType = z.ZodObject>(
  spec: EndpointSpec<P, Q, B>,
): Endpoint {
  return spec as unknown as Endpoint;
}

/** Declares a route that wants the unread bytes of the body. */
export const rawEndpoint = (spec: Omit<RawEndpointSpec, 'raw' | 'ability'>): Endpoint => ({
  ...spec,
  raw: true,
  ability: 'public',
});

/** True for the routes that take an Idempotency-Key (J2). */
export const takesKey = (spec: Endpoint): boolean =>
  spec.method === 'post' && !spec.raw && spec.ability !== 'public' && spec.storable !== false;

/** Every status a route may answer with; anything else is a fault (checked in tests, see dispatch.ts). */
export function declaredStatuses(spec: Endpoint): Set<number> {
  const statuses = [spec.status ?? 200, ...(spec.alsoStatus ?? []), ...(spec.errors ?? []), 400, 500, 503];
  if (spec.ability !== 'public') statuses.push(401, 403);
  if (spec.etag === 'kept') statuses.push(304);
  if (spec.limit) statuses.push(429);
  if (spec.raw || spec.body) statuses.push(413);
  if (!spec.raw && spec.body) statuses.push(415, 422);
  if (!spec.raw && spec.query) statuses.push(422);
  if (takesKey(spec)) statuses.push(409, 422);
  return new Set(statuses);
}
