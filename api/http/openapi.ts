import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { type Ability, getRule } from '../platform/access/access.js';
import { Settings } from '../platform/config.js';
import { type LimitName, LIMITS } from '../platform/endpoint/limits.js';
import { DELIVERY, ERRORS } from './openapi-examples.js';
import { HEADERS } from './openapi-headers.js';
import { actionSchemas } from './openapi-actions.js';
import { buildResponses } from './openapi-responses.js';
import { buildIntroduction, TAGS } from './openapi-texts.js';
import { openApiWebhooks } from './openapi-webhooks.js';
import { Bytes, type Endpoint, SomeBytes, takesKey } from '../platform/endpoint/endpoint.js';

const IdempotencyKey = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().meta({
    description:
      'Makes the call repeatable for 24 hours. The same key and body return the stored response with `Idempotency-Replayed: true`; another body is a 422; a call still in progress is a 409.',
    example: 'b8a3e1f0-deploy-41',
  }),
});

const Preconditions = {
  kept: z.object({
    'If-None-Match': z.string().optional().meta({ description: 'ETag of a previous response; 304 if unchanged' }),
  }),
  change: z.object({
    'If-Match': z.string().optional().meta({
      description: 'ETag of the record last read, instead of `version`; 409 if it changed',
      example: '"3"',
    }),
  }),
};

const Range = z.object({
  Range: z.string().optional().meta({ description: 'One range of bytes; the response is a 206', example: 'bytes=0-1023' }),
  'If-Range': z.string().optional().meta({ description: 'ETag of the part that you have; the whole file if it changed' }),
});

/** Returns the permission text of a route. */
function describePermissions(ability: Ability): string {
  const { words, pat, impersonated } = getRule(ability);
  const refused = [pat === false && 'for access tokens', impersonated === false && 'while impersonating'].filter(Boolean);
  return `Permissions: ${words}.${refused.length > 0 ? ` Not allowed ${refused.join(' or ')}.` : ''}`;
}

const COUNTED = { ip: 'client address', user: 'user', token: 'token' };

/** Returns the text of a rate limit. Routes that name the same limit share its count. */
function describeRateLimit(name: LimitName): string {
  const { setting, per } = LIMITS[name];
  return `Rate limit \`${name}\`: ${Settings.shape[setting].parse(undefined)} calls a minute per ${COUNTED[per]}, unless the installation sets another.`;
}

function describe(endpoint: Endpoint): string {
  const scope = endpoint.raw ? undefined : endpoint.scope;
  const who = endpoint.ability === 'public' ? undefined : describePermissions(endpoint.ability);
  const token = scope
    ? `Token scope: \`${scope}\`${endpoint.raw || endpoint.scopeEnforced ? '' : ' (advisory; required of strict tokens)'}.`
    : undefined;
  const limit = endpoint.limit && describeRateLimit(endpoint.limit);
  return [endpoint.description, who, token, limit].filter(Boolean).join('\n\n');
}

function buildOperation(endpoint: Endpoint): ZodOpenApiOperationObject {
  const operation: ZodOpenApiOperationObject = {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    responses: buildResponses(endpoint),
  };
  if (endpoint.deprecated) operation.deprecated = true;
  const description = describe(endpoint);
  if (description) operation.description = description;
  operation.security = endpoint.ability === 'public' ? [] : [{ bearer: [] }];
  if (endpoint.raw) {
    if (endpoint.params) operation.requestParams = { path: endpoint.params };
    operation.requestBody = {
      required: !endpoint.open,
      content: { 'application/json': { schema: { type: 'object' }, example: endpoint.example ?? DELIVERY } },
    };
    return operation;
  }
  const requestParams: NonNullable<ZodOpenApiOperationObject['requestParams']> = {};
  if (endpoint.params) requestParams.path = endpoint.params as z.ZodObject;
  if (endpoint.query) requestParams.query = endpoint.query as z.ZodObject;
  if (takesKey(endpoint)) requestParams.header = IdempotencyKey;
  if (endpoint.download) requestParams.header = Preconditions.kept.extend(Range.shape);
  else if (endpoint.etag && endpoint.etag !== 'created') requestParams.header = Preconditions[endpoint.etag];
  operation.requestParams = requestParams;
  if (endpoint.upload) {
    const form = (endpoint.body as z.ZodObject).extend({ file: Bytes });
    operation.requestBody = { required: true, content: { 'multipart/form-data': { schema: form, example: endpoint.example } } };
  } else if (endpoint.stream) {
    operation.requestBody = { required: true, content: { 'application/octet-stream': { schema: SomeBytes } } };
  } else if (endpoint.body) {
    const media = endpoint.example === undefined ? {} : { example: endpoint.example };
    // An absent body counts as an empty object, so it is optional where that suffices.
    const required = !endpoint.body.safeParse({}).success;
    operation.requestBody = { required, content: { 'application/json': { schema: endpoint.body, ...media } } };
  }
  return operation;
}

/** Response objects stay open: fields may be added at any time, and strict clients must accept them. */
const OPEN_ANSWERS: CreateDocumentOptions = {
  override: ({ jsonSchema, io }) => {
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

/** Version of the API: changes when clients have to change, unlike the version of the product. */
const API_VERSION = '2.0.0';

/** Returns the OpenAPI 3.1 document of the given routes. `url`: of the server; by default the one that the document comes from. */
export function createOpenApi(endpoints: Endpoint[], url = '/'): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: buildOperation(endpoint) };
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Assent',
        version: API_VERSION,
        description: buildIntroduction(endpoints),
        contact: { name: 'Assent maintainers' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url }],
      security: [{ bearer: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: openApiWebhooks(),
      components: {
        examples: ERRORS,
        headers: HEADERS,
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A sign-in token (JWT) or a personal access token' },
        },
      },
    },
    OPEN_ANSWERS,
  );
  const schemas = (document.components ??= {}).schemas ?? {};
  Object.assign(schemas, actionSchemas(schemas as Record<string, Record<string, unknown>>));
  return document;
}
