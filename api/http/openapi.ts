import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { ruleOf } from '../core/access.js';
import { declaredStatuses, type Endpoint } from './endpoint.js';

/** Open: some refusals carry a key of their own beside the envelope, such as `upgrade_required`. */
const ErrorEnvelope = z
  .looseObject({
    success: z.literal(false),
    verified: z.literal(false).optional(),
    status: z.literal('failure'),
    error_code: z.string(),
    message: z.string(),
    detail: z.union([
      z.string(),
      z.object({ errors: z.array(z.object({ field: z.string(), message: z.string(), type: z.string() })) }),
    ]),
    correlation_id: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'Error', description: 'Every answer that is no success' });

const MEANING: Record<number, string> = {
  400: 'Invalid request',
  401: 'Missing, malformed, expired or revoked credential; bad webhook signature',
  403: 'Not allowed: not a member, a read-only seat, or a missing scope',
  404: 'No such resource, or it is in the trash',
  409: 'Conflict with what is stored',
  410: 'The approval gate expired',
  413: 'The body is too large',
  415: 'Not JSON',
  422: 'Validation failed; `detail.errors` lists the fields',
  429: 'Rate limit exceeded',
  500: 'Our fault; the message is generic',
  503: 'Something we need is away; try again',
};

const correlationHeader = { 'X-Correlation-ID': { description: 'Id of this request', schema: { type: 'string' as const } } };

function responsesOf(endpoint: Endpoint): ZodOpenApiOperationObject['responses'] {
  const successes = [endpoint.status ?? 200, ...(endpoint.alsoStatus ?? [])];
  const entries = [...declaredStatuses(endpoint)]
    .sort((a, b) => a - b)
    .map((status) => {
      const schema = successes.includes(status as 200) ? endpoint.response : ErrorEnvelope;
      const description = successes.includes(status as 200) ? 'Success' : (MEANING[status] ?? 'Refused');
      return [String(status), { description, headers: correlationHeader, content: { 'application/json': { schema } } }] as const;
    });
  return Object.fromEntries(entries) as ZodOpenApiOperationObject['responses'];
}

function describe(endpoint: Endpoint): string {
  const scope = endpoint.raw ? undefined : endpoint.scope;
  const who = endpoint.ability === 'public' ? undefined : `Who may: ${ruleOf(endpoint.ability).words}.`;
  const token = scope ? `Token scope: \`${scope}\`${endpoint.raw || endpoint.scopeEnforced ? '' : ' (advisory)'}.` : undefined;
  return [endpoint.description, who, token].filter(Boolean).join('\n\n');
}

function operationOf(endpoint: Endpoint): ZodOpenApiOperationObject {
  const name = endpoint.path
    .replace('/api/', '')
    .replace(/:(\w+)/g, 'by-$1')
    .replaceAll('/', '-');
  const operation: ZodOpenApiOperationObject = {
    operationId: `${endpoint.method}-${name}`,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    responses: responsesOf(endpoint),
  };
  const description = describe(endpoint);
  if (description) operation.description = description;
  operation.security = endpoint.ability === 'public' ? [] : [{ bearer: [] }];
  if (endpoint.raw) {
    operation.requestBody = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
    return operation;
  }
  const requestParams: NonNullable<ZodOpenApiOperationObject['requestParams']> = {};
  if (endpoint.params) requestParams.path = endpoint.params as z.ZodObject;
  if (endpoint.query) requestParams.query = endpoint.query as z.ZodObject;
  operation.requestParams = requestParams;
  if (endpoint.body) {
    const media = endpoint.example === undefined ? {} : { example: endpoint.example };
    operation.requestBody = { content: { 'application/json': { schema: endpoint.body, ...media } } };
  }
  return operation;
}

/** The OpenAPI 3.1 document of the routes given; its own version is 2.0.0 (contract, section 9). */
export function createOpenApi(endpoints: Endpoint[]): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Assent',
      version: '2.0.0',
      description: 'Work management where every change a machine wants to make can wait for a person’s yes.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A sign-in token (JWT) or a personal access token' },
      },
    },
  });
}
