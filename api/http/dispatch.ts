import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { authenticate } from '../identity/auth/authenticate.js';
import { checkCallerKind } from '../platform/access/access.js';
import { type Actor, ANONYMOUS } from '../platform/access/actor.js';
import type { Context, Services } from '../platform/context.js';
import { countedDatabase, databaseForDeliveries } from '../platform/database/counted-database.js';
import { forbidden, invalidFields } from '../platform/errors.js';
import { enforcesEveryScope, requireScope } from '../platform/access/require-scope.js';
import { fieldErrors, QUERY_MESSAGES, ZOD_MESSAGES } from '../platform/validation/messages.js';
import { getKey, withIdempotencyKey } from './idempotency.js';
import type { Incoming, Outgoing } from './exchange.js';
import {
  declaredStatuses,
  type Endpoint,
  type EndpointSpec,
  JsonText,
  type RawEndpointSpec,
  Reply,
  type Request,
} from '../platform/endpoint/endpoint.js';
import { authenticateRunner, runnerTokenIn } from '../automation/runners/registration/authenticate-runner.js';
import { signedInUserId } from '../web/server/session.js';
import { getPages } from '../platform/endpoint/pages.js';
import { page, wholeList } from './lists/paging.js';
import type { LimitName } from '../platform/endpoint/limits.js';
import { addressKey, type RateLimiter } from '../platform/endpoint/rate-limit.js';
import { collectDeepObjects } from './deep-objects.js';
import { reportUnknownFields, unknownFields } from './unknown-fields.js';
import { readBody, readJson, refuseLargeBody } from '../platform/endpoint/read-body.js';
import { readStream } from '../platform/endpoint/read-stream.js';
import { readUpload, type Upload } from '../platform/endpoint/read-upload.js';
import { cleanUserAgent } from '../platform/endpoint/user-agent.js';

export interface Dispatcher {
  services: Services;
  limit: RateLimiter;
}

const MAX_BODY = 1024 * 1024;

/** @throws VALIDATION_ERROR with all problems at once */
function parse<S extends z.ZodType>(place: string, schema: S | undefined, value: unknown): z.output<S> {
  if (!schema) return value as z.output<S>;
  const result = schema.safeParse(value, place === 'query' ? QUERY_MESSAGES : ZOD_MESSAGES);
  if (!result.success) throw invalidFields(fieldErrors(place, result.error));
  return result.data as z.output<S>;
}

/** Returns whether the route's scope is enforced: where it says so, everywhere by a setting, or for a strict token. */
const enforcesScope = (spec: EndpointSpec<z.ZodType, z.ZodType, z.ZodType>, { config }: Services, actor?: Actor): boolean =>
  spec.scopeEnforced === true || enforcesEveryScope(config, actor);

/**
 * @throws PERMISSION_DENIED for a token of an outside agent at another route than its own, if the ability rejects this kind of caller, or
 * if the token lacks an enforced scope
 */
function checkCaller(spec: EndpointSpec<z.ZodType, z.ZodType, z.ZodType>, services: Services, actor: Actor): void {
  if (actor.type === 'pat' && actor.mcpOnly && !spec.forAgents) {
    throw forbidden('This token works at /api/mcp and its gateway only', { detail: 'Use another token, or sign in.' });
  }
  if (spec.ability !== 'public') checkCallerKind(spec.ability, actor);
  if (actor.type === 'pat' && spec.scope && enforcesScope(spec, services, actor)) requireScope(actor.scopes, spec.scope);
}

/** Converts a handler's result to a response. */
function toAnswer(spec: Endpoint, result: unknown): Outgoing {
  const { body, options } = result instanceof Reply ? result : { body: result, options: {} as Reply['options'] };
  return {
    status: options.status ?? spec.status ?? 200,
    body: body instanceof JsonText ? body.text : toBody(body),
    headers: options.headers ?? {},
  };
}

/** Serializes a value here, where an error still has an envelope. Koa would answer a plain-text 500 to one that is too long for a string. */
const toBody = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && !(body instanceof Readable) && !Buffer.isBuffer(body)
    ? JSON.stringify(body)
    : body;

/** Headers of a deprecated route: RFC 9745, RFC 8594 and RFC 5829. */
const deprecationHeaders = ({ since, sunset, successor }: NonNullable<Endpoint['deprecated']>): Record<string, string> => ({
  Deprecation: `@${new Date(since).getTime() / 1_000}`,
  Sunset: new Date(sunset).toUTCString(),
  Link: `<${successor}>; rel="successor-version"`,
});

/** Authenticates the caller. Runners have credentials of their own, which only their routes take. @throws AUTHENTICATION_REQUIRED */
async function authenticateRequest(
  services: Services,
  { ability, allowExpiredJwt }: EndpointSpec<z.ZodType, z.ZodType, z.ZodType>,
  authorization: string | undefined,
): Promise<Actor> {
  if (ability === 'public') return ANONYMOUS;
  const token = ability === 'runner.work' ? runnerTokenIn(authorization) : undefined;
  if (token === undefined) return authenticate(services, authorization, allowExpiredJwt);
  return { type: 'system', name: 'runner', runner: await authenticateRunner(services, token) };
}

/** Watches for the end of a connection; a connection carries many requests, so each stops listening. */
function onHangUp({ socket }: IncomingMessage, listener: () => void): () => void {
  if (socket.destroyed) listener();
  socket.once('close', listener);
  return () => socket.off('close', listener);
}

async function handleJson(
  { services, limit }: Dispatcher,
  spec: EndpointSpec<z.ZodType, z.ZodType, z.ZodType>,
  incoming: Incoming,
  headers: Record<string, string>,
): Promise<Outgoing> {
  const { request, requestId, log, ip } = incoming;
  if (spec.scope) {
    headers['X-Required-Scope'] = spec.scope;
    headers['X-Scope-Enforced'] = String(enforcesScope(spec, services));
  }
  if (spec.deprecated) Object.assign(headers, deprecationHeaders(spec.deprecated));
  const actor = await authenticateRequest(services, spec, request.headers.authorization);
  if (actor.type === 'user' && actor.impersonatorId) headers['X-Impersonated-By'] = actor.impersonatorId;
  if (spec.scope) headers['X-Scope-Enforced'] = String(enforcesScope(spec, services, actor));
  checkCaller(spec, services, actor);
  const counted = {
    ip,
    userId: actor.type === 'system' ? null : actor.userId,
    tokenId: actor.type === 'pat' ? actor.tokenId : null,
  };
  if (spec.limit) Object.assign(headers, await limit(spec.limit, counted));
  const db = countedDatabase(services, actor, addressKey(ip));
  const ctx: Context = {
    ...services,
    db,
    log,
    actor,
    requestId,
    correlationId: requestId,
    ip,
    userAgent: cleanUserAgent(request.headers['user-agent']),
  };
  const upload = spec.upload && (await openUpload(spec.upload, request, services));
  try {
    const browserUserId = () => signedInUserId(services, request.headers);
    const count = (name: LimitName) => limit(name, counted);
    const hangUp = (listener: () => void) => onHangUp(request, listener);
    return await perform(spec, incoming, headers, { ctx, browserUserId, onHangUp: hangUp, upload, count });
  } finally {
    upload?.close();
  }
}

const openUpload = ({ maxBytes }: { maxBytes: number }, request: IncomingMessage, { config }: Services): Promise<Upload> =>
  readUpload(request, { maxBytes, timeoutMs: config.FILE_UPLOAD_SECONDS * 1000 });

const limitStream = ({ maxBytes }: { maxBytes: number }, request: IncomingMessage, { config }: Services): AsyncIterable<Buffer> =>
  readStream(request, { maxBytes, timeoutMs: config.FILE_UPLOAD_SECONDS * 1000 });

/** Validates the request and calls the handler. */
async function perform(
  spec: EndpointSpec<z.ZodType, z.ZodType, z.ZodType>,
  incoming: Incoming,
  headers: Record<string, string>,
  {
    upload,
    count,
    ...known
  }: Pick<Request<unknown, unknown, unknown>, 'ctx' | 'browserUserId' | 'onHangUp'> & {
    upload: Upload | undefined;
    count: (name: LimitName) => Promise<Record<string, string>>;
  },
): Promise<Outgoing> {
  const { request } = incoming;
  const asked = collectDeepObjects(spec.query, incoming.query);
  const unknown = [...unknownFields('query', spec.query, asked)];
  const given = upload ? upload.fields : spec.body && (await readJson(request, spec.bodyLimit ?? MAX_BODY, spec.exactJson));
  if (spec.body) unknown.push(...unknownFields('body', spec.body, given));
  reportUnknownFields(unknown, request.headers['prefer'], headers);
  const params = parse('path', spec.params, incoming.params);
  const query = parse('query', spec.query, asked);
  const body = spec.body && parse('body', spec.body, given);
  const further = spec.getLimit?.(body);
  if (further) Object.assign(headers, await count(further));
  const bytes = spec.stream && limitStream(spec.stream, request, known.ctx);
  const sent = { ...(upload && { file: upload.file }), ...(bytes && { bytes }) };
  const call = { ...known, params, query, body, headers: request.headers, ...sent };
  const pages = getPages(spec as Endpoint);
  const answer = async () =>
    toAnswer(
      spec,
      await (pages ? page(spec, pages, call, request.url ?? '') : wholeList(spec, known.ctx, await spec.handle(call))),
    );
  const key = getKey(spec, known.ctx.actor, incoming, given);
  return key ? withIdempotencyKey(known.ctx, key, answer) : answer();
}

async function handleRaw(
  { services, limit }: Dispatcher,
  spec: RawEndpointSpec,
  incoming: Incoming,
  headers: Record<string, string>,
): Promise<Outgoing> {
  const { request, requestId, log, ip } = incoming;
  const bodyLimit = spec.bodyLimit ?? MAX_BODY;
  // Cheap rejections first: announced size, then rate limit, then the bytes.
  refuseLargeBody(request, bodyLimit);
  const count = async (tokenId: string | null) => {
    if (spec.limit) Object.assign(headers, await limit(spec.limit, { ip, userId: null, tokenId }));
  };
  const db = spec.open ? countedDatabase(services, ANONYMOUS, addressKey(ip)) : databaseForDeliveries(services);
  const { params, query } = incoming;
  const call = { services: { ...services, db, log }, params, query, headers: request.headers, count, requestId, ip };
  if (!spec.open && !spec.admit) await count(null);
  const admitted = await spec.admit?.(call);
  const body = await readBody(request, bodyLimit);
  return toAnswer(spec, await spec.handle({ ...call, body, admitted }));
}

/**
 * Handles one request: credential, scope, rate limit, validation, handler. `headers` collects headers that errors carry too.
 * @throws DomainError and any error of the operation
 */
export async function dispatch(
  dispatcher: Dispatcher,
  spec: Endpoint,
  incoming: Incoming,
  headers: Record<string, string>,
): Promise<Outgoing> {
  const answer = spec.raw
    ? await handleRaw(dispatcher, spec, incoming, headers)
    : await handleJson(dispatcher, spec, incoming, headers);
  return { ...answer, headers: Object.assign(headers, answer.headers) };
}

/**
 * Returns whether the route declares this status. In tests an undeclared status is an error, because the API document would be
 * wrong.
 */
export function isDeclared(spec: Endpoint, status: number): boolean {
  // A slow body is a matter of the connection, as what Node’s parser rejects.
  return status === 408 || declaredStatuses(spec).has(status);
}
