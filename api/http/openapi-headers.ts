import { type Endpoint, takesKey } from '../platform/endpoint/endpoint.js';
import { isList, getPages } from '../platform/endpoint/pages.js';

const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const count = (description: string) => ({ description, schema: { type: 'integer' as const } });
const flag = (description: string) => ({ description, schema: { type: 'string' as const, enum: ['true', 'false'] } });

/** Response headers by their name among the document's components. `VersionETag` is the ETag of a change. */
export const HEADERS = {
  'X-Correlation-ID': text('Id of this request; also in errors and in the audit log'),
  'X-Request-ID': text('The request’s own `X-Request-ID`, if it had one'),
  'X-Ignored-Fields': text('Unknown body fields and query parameters, such as `body.titel, query.statuss`; the first 20'),
  'Preference-Applied': text('`handling=strict`, if the request preferred it'),
  'X-Required-Scope': text('Scope that an access token needs'),
  'X-Scope-Enforced': flag('Whether this request had to have the scope'),
  'X-Impersonated-By': text('User id of the administrator, while impersonating'),
  'WWW-Authenticate': text('`Bearer error="invalid_token"` for a missing or invalid token, `Signature` for a bad signature'),
  'Idempotency-Replayed': text('`true` for the stored response of an earlier call'),
  'Retry-After': count('Seconds to wait before a retry'),
  'RateLimit-Policy': text('Limit: `"login";q=10;w=60` means 10 per 60 seconds'),
  RateLimit: text('Remaining: `"login";r=3;t=42` means 3 for the next 42 seconds'),
  ETag: text('For If-None-Match; that of a task, note or work item also works in If-Match'),
  VersionETag: text('The `version` after the change, quoted'),
  'X-Search-Indexing': text('`true` while a bulk change of your teams is being indexed; repeat the search in a few seconds'),
  Deprecation: text('When the route was deprecated, as `@` and seconds since 1970 (RFC 9745)'),
  Sunset: text('When the route ends, as an HTTP date (RFC 8594)'),
  SuccessorLink: text('The route to use instead: `rel="successor-version"`'),
  'X-Truncated': text('`true` if the list was cut at its maximum'),
  Link: text('Other pages: `rel="next"`, `prev` and `first` (RFC 8288); absent on a single page'),
  'X-Total-Count': count('Length of the whole list, if known'),
  'Content-Disposition': text('`attachment` with the name of the file'),
  'Accept-Ranges': text('`bytes`'),
  'Content-Range': text('First and last byte and the size of the file; of a 416 the size alone'),
};
type HeaderName = keyof typeof HEADERS;

/** Names of header fields that have two meanings. */
const FIELD_NAMES: Partial<Record<HeaderName, string>> = { VersionETag: 'ETag', SuccessorLink: 'Link' };

/** Header fields by name, each a reference to its component. */
const refs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [FIELD_NAMES[name] ?? name, { $ref: `#/components/headers/${name}` }] as const));

/** Headers that every response of the route may carry, an error too. */
function commonHeaders(endpoint: Endpoint): HeaderName[] {
  const names: HeaderName[] = ['X-Correlation-ID', 'X-Request-ID'];
  if (!endpoint.raw) names.push('X-Ignored-Fields', 'Preference-Applied');
  if (!endpoint.raw && endpoint.scope) names.push('X-Required-Scope', 'X-Scope-Enforced');
  if (endpoint.ability !== 'public') names.push('X-Impersonated-By');
  if (endpoint.deprecated) names.push('Deprecation', 'Sunset', 'SuccessorLink');
  if (endpoint.limit) names.push('RateLimit-Policy', 'RateLimit');
  return names;
}

/** Returns the headers of a success; `unchanged` is a 304. */
export function successHeaders(endpoint: Endpoint, unchanged = false) {
  const names = commonHeaders(endpoint);
  if (endpoint.etag) names.push(endpoint.etag === 'change' ? 'VersionETag' : 'ETag');
  if (unchanged) return refs(names);
  if (takesKey(endpoint)) names.push('Idempotency-Replayed');
  const pages = getPages(endpoint);
  if (pages) names.push('Link');
  if (pages && (pages.by === undefined || pages.total || pages.counted)) names.push('X-Total-Count');
  if (endpoint.capped || isList(endpoint)) names.push('X-Truncated');
  if (endpoint.searches) names.push('X-Search-Indexing');
  if (endpoint.download) names.push('Content-Disposition', 'Accept-Ranges', 'Content-Range');
  return refs(names);
}

/** Errors that an Idempotency-Key stores, and that may therefore be a stored response. */
const STORED_ERRORS = new Set([400, 402, 403, 404, 409, 410]);

/** Returns the headers of an error. */
export function errorHeaders(endpoint: Endpoint, status: number) {
  // The parser knows no route.
  if (status === 431) return refs(['X-Correlation-ID']);
  const names = commonHeaders(endpoint);
  if (status === 401) names.push('WWW-Authenticate');
  if (takesKey(endpoint) && STORED_ERRORS.has(status)) names.push('Idempotency-Replayed');
  if (status === 416) names.push('Content-Range');
  if ([409, 429, 503].includes(status)) names.push('Retry-After');
  return refs(names);
}
