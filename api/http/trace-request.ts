import type { ParameterizedContext } from 'koa';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { readTraceparent } from '../platform/telemetry/tracing/trace-ids.js';
import type { Tracer } from '../platform/telemetry/tracing/tracer.js';

/**
 * Exports the span of a request that has been answered: the first one of its trace. Spans of what it causes name it by the request's id. A caller's trace is linked
 * and never the parent, because anybody may send any id. `since`: its start by `performance.now()`.
 */
export function traceRequest(tracer: Tracer, ctx: ParameterizedContext<RouteState>, route: string, since: number): void {
  const { requestId } = ctx.state;
  const link = readTraceparent(ctx.get('traceparent'));
  const span = tracer.begin(requestId, { name: route, kind: 'server', id: requestId, parent: null, since, link });
  span?.end({ 'http.route': route, 'http.response.status_code': ctx.status, caller_trace_id: link?.traceId }, ctx.status >= 500);
}
