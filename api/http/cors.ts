import type Koa from 'koa';
import type { Config } from '../platform/config.js';

const EXPOSED =
  'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Correlation-ID, X-Search-Indexing, X-Total-Count, X-Truncated, Idempotency-Replayed, X-Ignored-Fields, Content-Disposition, Content-Range, Accept-Ranges';
const ALLOWED_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Prefer, Range, X-Request-ID';
/** A browser repeats its preflight after this time at the latest. */
const MAX_AGE_SECONDS = 600;

/**
 * Opens `/api` to browsers of the configured origins; without any, no header is sent. Credentials are tokens in a header, so cookies
 * stay closed.
 */
export function cors({ CORS_ORIGINS }: Config): Koa.Middleware {
  const origins = new Set(CORS_ORIGINS);
  return (ctx, next) => {
    if (origins.size === 0 || !ctx.path.startsWith('/api/')) return next();
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (!origins.has(origin)) return next();
    ctx.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return next();
    ctx.set({
      'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    });
    ctx.status = 204;
    return undefined;
  };
}
