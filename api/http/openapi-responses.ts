import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES } from '../platform/errors.js';
import { declaredStatuses, type Endpoint } from '../platform/endpoint/endpoint.js';
import { errorExampleRef, responseExample } from './openapi-examples.js';
import { errorHeaders, successHeaders } from './openapi-headers.js';

/** Open: some errors have an extra key beside the envelope, such as `upgrade_required`. */
const ErrorEnvelope = z
  .looseObject({
    success: z.literal(false),
    verified: z.literal(false).optional(),
    status: z.literal('failure'),
    error_code: z.enum(ERROR_CODES),
    message: z.string(),
    detail: z.union([
      z.string(),
      z.object({ errors: z.array(z.object({ field: z.string(), message: z.string(), type: z.string() })) }),
    ]),
    correlation_id: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Error', description: 'Error response' });

const MEANING: Record<number, string> = {
  400: 'Invalid request',
  401: 'Missing, malformed, expired or revoked credential; bad webhook signature',
  402: 'The quota of the team is used up',
  403: 'Not a member, insufficient role, or missing scope',
  404: 'Not found, or in the trash',
  406: 'The client accepts neither JSON nor event streams',
  408: 'The request took too long',
  409: 'Conflict with the stored state',
  410: 'The approval gate, the plan or the cursor expired',
  413: 'Request body too large',
  415: 'Another media type, or compressed',
  416: 'The range is outside of the file',
  422: 'Validation failed; `detail.errors` lists the fields',
  429: 'Rate limit exceeded',
  431: 'The address and the headers are longer than 16 kB',
  500: 'Internal error',
  503: 'Service unavailable',
};

type Headers = ReturnType<typeof errorHeaders>;

/** Says by a response's headers which routes share it. That of a signed-in caller on a route with a scope has no suffix. */
function getSuffix(headers: Headers): string {
  const has = (name: string) => name in headers;
  if (Object.keys(headers).length === 1) return '';
  const words = [
    !has('X-Ignored-Fields') && 'Raw',
    !has('X-Impersonated-By') && 'Public',
    has('X-Impersonated-By') && !has('X-Required-Scope') && 'WithoutScope',
    has('Deprecation') && 'Deprecated',
    has('RateLimit') && 'Limited',
    has('Idempotency-Replayed') && 'Keyed',
  ];
  return words.filter(Boolean).join('');
}

const shared = new Map<string, ZodOpenApiResponseObject>();

/**
 * Returns the component for a response without a schema of its own, such as `Unauthorized`. Hundreds of operations have the same ones:
 * in each of them they were two thirds of the document. Two with one name make `createDocument` throw.
 */
function sharedResponse(status: number, headers: Headers, rest: Omit<ZodOpenApiResponseObject, 'headers' | 'id'>) {
  const key = `${status} ${JSON.stringify(headers)}`;
  const id = `${STATUS_CODES[status]?.replace(/\W/g, '')}${getSuffix(headers)}`;
  const response = shared.get(key) ?? { id, headers, ...rest };
  shared.set(key, response);
  return response;
}

const buildError = (endpoint: Endpoint, status: number) =>
  sharedResponse(status, errorHeaders(endpoint, status), {
    description: MEANING[status] ?? 'Error',
    content: { 'application/json': { schema: ErrorEnvelope, ...errorExampleRef(status) } },
  });

const eventStream = (description: string) => ({ 'text/event-stream': { schema: { type: 'string' as const, description } } });

const getMediaType = ({ page, download }: Endpoint): string => (page ? 'text/html' : download ? '*/*' : 'application/json');

/** Returns what the document says of the statuses of a route. */
export function buildResponses(endpoint: Endpoint): ZodOpenApiOperationObject['responses'] {
  const successes = [endpoint.status ?? 200, ...(endpoint.alsoStatus ?? [])];
  const entries = [...declaredStatuses(endpoint)]
    .sort((a, b) => a - b)
    .map((status) => {
      if (status === 304) {
        const unchanged = sharedResponse(304, successHeaders(endpoint, true), { description: 'Not modified' });
        return [String(status), unchanged] as const;
      }
      if (status === 204) return ['204', { description: 'Nothing', headers: successHeaders(endpoint) }] as const;
      if (!successes.includes(status as 200)) return [String(status), buildError(endpoint, status)] as const;
      const example = responseExample(endpoint.response);
      const media = { schema: endpoint.response, ...(example === undefined ? {} : { example }) };
      const answer = {
        description: 'Success',
        headers: successHeaders(endpoint),
        content: { [getMediaType(endpoint)]: media, ...(endpoint.eventStream && eventStream(endpoint.eventStream)) },
      };
      return [String(status), answer] as const;
    });
  return Object.fromEntries(entries) as ZodOpenApiOperationObject['responses'];
}
