import Koa from 'koa';
import { type Config, isDevelopment } from '../platform/config.js';
import type { Services } from '../platform/context.js';
import { DomainError, invalid } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { withoutRedaction } from '../platform/telemetry/log.js';
import { cors } from './cors.js';
import { isDeclared } from './dispatch.js';
import { mountDocs } from './docs.js';
import { mountLlms } from './llms.js';
import { mountMailbox } from './mailbox.js';
import { toDomainError } from '../platform/database/database-errors.js';
import { envelope, withJsonRpc } from './envelope.js';
import { observeRequest } from '../platform/telemetry/metrics.js';
import { mountWeb } from '../web/mount.js';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { createRouter } from './router.js';
import { traceRequest } from './trace-request.js';

/** Its clients read errors as JSON-RPC. */
const MCP_PATH = '/api/mcp';
/** Production does not serve the API document. */
const pathAdvice = (config: Config): string =>
  isDevelopment(config) ? 'Check the path: /api/docs lists all of them.' : 'Check the method and the path.';

const CLIENT_REQUEST_ID = /^[\w-]{1,64}$/;

/** On every response: no sniffing, framing, caching or scripts. The documentation pages relax the policy for themselves. */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** Writes an error response; logs server errors with their cause. */
function refuse(ctx: Koa.ParameterizedContext<RouteState>, thrown: unknown): void {
  const error = toDomainError(thrown);
  // The path of a raw route may be a secret.
  const path = ctx.state.endpoint?.raw ? ctx.state.endpoint.path : ctx.path;
  if (error.status >= 500) ctx.state.log.error({ err: error.cause ?? error, path }, 'request failed');
  ctx.status = error.status;
  ctx.set({ ...ctx.state.headers, ...error.headers });
  const body = envelope(error, ctx.state.requestId);
  ctx.body = ctx.path === MCP_PATH ? withJsonRpc(body, error) : body;
}

/** Outermost middleware: adds the id, the error envelope and the log line. */
const surround =
  (services: Services): Koa.Middleware<RouteState> =>
  async (ctx, next) => {
    const started = performance.now();
    const requestId = newId();
    const log = services.log.child({ correlation_id: requestId });
    Object.assign(ctx.state, { requestId, log, headers: {} });
    ctx.set({ ...SECURITY_HEADERS, 'X-Correlation-ID': requestId });
    const clientId = ctx.get('X-Request-ID');
    const request_id = CLIENT_REQUEST_ID.test(clientId) ? clientId : undefined;
    if (request_id) ctx.set('X-Request-ID', request_id);
    await next().catch((thrown: unknown) => refuse(ctx, thrown));
    const { endpoint, page = 'unmatched' } = ctx.state;
    const route = endpoint ? `${endpoint.method.toUpperCase()} ${endpoint.path}` : page;
    if (services.config.NODE_ENV === 'test' && endpoint && !isDeclared(endpoint, ctx.status)) {
      refuse(ctx, new Error(`${route} returned undeclared status ${ctx.status}`));
    }
    const ms = Math.round((performance.now() - started) * 10) / 10;
    observeRequest(route, ctx.status, ms);
    if (services.tracer) traceRequest(services.tracer, ctx, route, started);
    withoutRedaction(services.log).info(
      { correlation_id: requestId, method: ctx.method, route, status: ctx.status, ms, request_id },
      'request',
    );
  };

/** Creates the Koa application: correlation id, envelope and log line around the router. Independent of features. */
export function createApp(services: Services): Koa {
  const app = new Koa<RouteState>();
  const router = createRouter(services);
  // Errors after the response began, such as a client disconnect; Koa would print a stack trace.
  app.on('error', (error: Error) => services.log.warn({ err: error }, 'an answer broke off'));
  app.use(surround(services));
  app.use(cors(services.config));
  app.use((ctx, next) => {
    if (ctx.req.httpVersion === '1.1' && ctx.req.headers.host === undefined) throw invalid('The Host header is missing');
    return next();
  });
  app.use(router.routes());
  mountLlms(app, services.config);
  mountDocs(app, services.config);
  mountMailbox(app, services);
  mountWeb(app, services);
  // No route matched: 204 to OPTIONS, 405 with Allow if the path exists, else 404.
  app.use((ctx) => {
    const allowed = router.methodsAt(ctx.path);
    if (allowed.length === 0)
      throw new DomainError('RESOURCE_NOT_FOUND', 'No such endpoint', { detail: pathAdvice(services.config) });
    const headers = { Allow: allowed.join(', ') };
    if (ctx.method !== 'OPTIONS') throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`, { headers });
    ctx.status = 204;
    ctx.set(headers);
  });
  return app as unknown as Koa;
}
