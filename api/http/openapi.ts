import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { type Ability, ruleOf } from '../core/access.js';
import { answerExample, DELIVERY, REFUSALS, refusalExample } from './openapi-examples.js';
import { declaredStatuses, type Endpoint, takesKey } from '../endpoint/endpoint.js';

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

const IdempotencyKey = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().meta({
    description:
      'Makes the call repeatable for 24 hours: the same key with the same body answers again what the first call answered, with `Idempotency-Replayed: true`; with another body 422; while the first call is under way 409.',
    example: 'b8a3e1f0-deploy-41',
  }),
});

const Preconditions = {
  kept: z.object({
    'If-None-Match': z.string().optional().meta({ description: 'ETag of the answer that is at hand: unchanged, it is a 304' }),
  }),
  change: z.object({
    'If-Match': z.string().optional().meta({
      description: 'ETag of the record as it was read, in place of `version`: changed since, it is a 409',
      example: '"3"',
    }),
  }),
};

const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const correlationHeader = { 'X-Correlation-ID': text('Id of this request') };
const retryAfter = { 'Retry-After': text('Seconds until it is worth trying again') };
const limitHeaders = {
  'RateLimit-Policy': text('What is allowed: `"login";q=10;w=60` is ten in 60 seconds'),
  RateLimit: text('What is left: `"login";r=3;t=42` is three in the next 42 seconds'),
};
const etagHeaders = {
  kept: { ETag: text('For If-None-Match; a task’s begins with its `version`, and If-Match takes it') },
  change: { ETag: text('The `version` after the change, quoted') },
};
const cappedHeader = { 'X-Truncated': text('`true` when the list was cut at its cap') };
const pageHeaders = {
  Link: text('Where the list goes on: `rel="next"`, `prev` and `first` (RFC 8288); absent when this is all'),
  'X-Total-Count': { description: 'Rows of the whole list, where it is known', schema: { type: 'integer' as const } },
};

const successHeaders = (endpoint: Endpoint) => ({
  ...correlationHeader,
  ...(takesKey(endpoint) && { 'Idempotency-Replayed': text('`true` when this is the stored answer to an earlier call') }),
  ...(!endpoint.raw && endpoint.pages && pageHeaders),
  ...(endpoint.limit && limitHeaders),
  ...(endpoint.etag && etagHeaders[endpoint.etag]),
  ...(endpoint.capped && cappedHeader),
});
const unchanged = {
  description: 'Unchanged since the answer with this ETag',
  headers: { ...correlationHeader, ...etagHeaders.kept },
};
const refusalOf = (status: number) => ({
  description: MEANING[status] ?? 'Refused',
  headers: {
    ...correlationHeader,
    ...(status === 429 && limitHeaders),
    ...((status === 429 || status === 503) && retryAfter),
  },
  content: { 'application/json': { schema: ErrorEnvelope, ...refusalExample(status) } },
});

function responsesOf(endpoint: Endpoint): ZodOpenApiOperationObject['responses'] {
  const successes = [endpoint.status ?? 200, ...(endpoint.alsoStatus ?? [])];
  const entries = [...declaredStatuses(endpoint)]
    .sort((a, b) => a - b)
    .map((status) => {
      if (status === 304) return [String(status), unchanged] as const;
      if (!successes.includes(status as 200)) return [String(status), refusalOf(status)] as const;
      const example = answerExample(endpoint.response);
      const media = { schema: endpoint.response, ...(example === undefined ? {} : { example }) };
      const answer = {
        description: 'Success',
        headers: successHeaders(endpoint),
        content: { [endpoint.page ? 'text/html' : 'application/json']: media },
      };
      return [String(status), answer] as const;
    });
  return Object.fromEntries(entries) as ZodOpenApiOperationObject['responses'];
}

/** What the table of who may do what says of a route. */
function permissionsOf(ability: Ability): string {
  const { words, pat, impersonated } = ruleOf(ability);
  const refused = [pat === false && 'for access tokens', impersonated === false && 'while impersonating'].filter(Boolean);
  return `Who may: ${words}.${refused.length > 0 ? ` Refused ${refused.join(' and ')}.` : ''}`;
}

function describe(endpoint: Endpoint): string {
  const scope = endpoint.raw ? undefined : endpoint.scope;
  const who = endpoint.ability === 'public' ? undefined : permissionsOf(endpoint.ability);
  const token = scope
    ? `Token scope: \`${scope}\`${endpoint.raw || endpoint.scopeEnforced ? '' : ' (advisory; a strict token needs it)'}.`
    : undefined;
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
    operation.requestBody = {
      required: true,
      content: { 'application/json': { schema: { type: 'object' }, example: DELIVERY } },
    };
    return operation;
  }
  const requestParams: NonNullable<ZodOpenApiOperationObject['requestParams']> = {};
  if (endpoint.params) requestParams.path = endpoint.params as z.ZodObject;
  if (endpoint.query) requestParams.query = endpoint.query as z.ZodObject;
  if (takesKey(endpoint)) requestParams.header = IdempotencyKey;
  if (endpoint.etag) requestParams.header = Preconditions[endpoint.etag];
  operation.requestParams = requestParams;
  if (endpoint.body) {
    const media = endpoint.example === undefined ? {} : { example: endpoint.example };
    // No body counts as an empty object (J1): it may be left out where that is enough.
    const required = !endpoint.body.safeParse({}).success;
    operation.requestBody = { required, content: { 'application/json': { schema: endpoint.body, ...media } } };
  }
  return operation;
}

const INTRODUCTION = `Work management where every change a machine wants to make can wait for a person’s yes.

**Sign in** with \`POST /api/auth/login\` or use a personal access token; either goes into \`Authorization: Bearer …\`.
**Ids** are opaque: an id that is unknown, malformed or in the trash is a 404; one of a team you are not in is a 403.
**Errors** share one envelope, and every answer carries \`X-Correlation-ID\`: name it when you ask about a request; the audit entry has it too.
**Concurrency**: send the \`version\` you last read, or \`If-Match\`, and a stale write is refused with 409 instead of lost.
**Repeats**: every POST but those that hand out a secret takes \`Idempotency-Key\`; sent again within a day it is answered again, not done again.
**Pages**: lists are bare arrays; follow \`Link\` with \`rel="next"\` where they go on.`;

const TAGS: Record<string, string> = {
  Auth: 'Who is asking, and how they prove it.',
  'Two-factor': 'Signing in with an authenticator app.',
  Passwords: 'Forgotten and changed.',
  Sessions: 'Where a person is signed in, and the devices they trust.',
  Tokens: 'Personal access tokens: scripts and CI act as their owner by them.',
  Teams: 'Teams, their members and seats: guest, member, manager, admin.',
  Projects: 'Projects of a team. Every write answers in one envelope that names its audit entry.',
  Tasks: 'Tasks of a project, nested to 20 levels.',
  Comments: 'Comments on tasks, one level of replies.',
  Trash: 'What was deleted, for 30 days, and its way back.',
  Activity: 'Who did what, in one line each.',
  Automations: 'A trigger, a condition, actions; some wait at a gate. Runs are their record.',
  Approvals: 'Runs that wait for a person, and the decision.',
  'Dead letter': 'Runs that failed, why, and their replay.',
  Secrets: 'Named values of a team that actions send and nobody reads.',
  Integrations: 'Services that people connect with accounts of theirs, for their automations.',
  Admin: 'Administration of the installation: people, plans, acting as somebody else.',
  Forge: 'The signed inbound webhook of a code host, and the repositories bound to a team.',
};

/** An answer may have a field more at any time (decision J4): the document leaves it open, or strict clients would refuse it. */
const OPEN_ANSWERS: CreateDocumentOptions = {
  override: ({ jsonSchema, io }) => {
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

/** The OpenAPI 3.1 document of the routes given; its own version is 2.0.0 (contract, section 9). */
export function createOpenApi(endpoints: Endpoint[]): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Assent',
        version: '2.0.0',
        description: INTRODUCTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        examples: REFUSALS,
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A sign-in token (JWT) or a personal access token' },
        },
      },
    },
    OPEN_ANSWERS,
  );
}
