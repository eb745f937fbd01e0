import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { getRule } from '../api/platform/access/access.js';
import { availableActions } from '../api/automation/actions/registry.js';
import { TRIGGERS } from '../api/automation/language/triggers.js';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';
import { UpdateTask } from '../api/work/tasks/schema.js';
import { resolveSubtree } from '../api/web/assets/docs-resolver.js';
import { expectEnvelope } from './envelope/expect-envelope.js';
import { isList } from '../api/platform/endpoint/pages.js';
import { getRoute, ENFORCED } from './authorization/expected.js';
import { startApp, type TestApp } from './support/app.js';

// The published document and the pages that show it.

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: unknown[];
  parameters?: { in: string; name: string; required?: boolean; schema?: object }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, Answer>;
}
interface Answer {
  description: string;
  headers?: Record<string, { $ref?: string }>;
  content: Record<string, { schema: object }>;
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<'schemas' | 'headers' | 'securitySchemes', Record<string, object>> & { responses: Record<string, Answer> };
}

const document = createOpenApi(ENDPOINTS) as unknown as Document;
/** A response that many operations have is a component. */
const followed = (answer: Answer | { $ref: string }): Answer =>
  '$ref' in answer ? (document.components.responses[answer.$ref.split('/').at(-1) as string] as Answer) : answer;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, declared]) => {
    const responses = Object.fromEntries(
      Object.entries(declared.responses).map(([status, answer]) => [status, followed(answer)] as const),
    );
    return { path, method, operation: { ...declared, responses }, name: `${method.toUpperCase()} ${path}` };
  }),
);
/** Of an answer: JSON, the one page, or the bytes of a file. */
const getSchema = (content: Record<string, { schema: object }> | undefined) =>
  (content?.['application/json'] ?? content?.['text/html'] ?? content?.['*/*'])?.schema;
const named = (route: string) => route.replace(/:(\w+)/g, '{$1}');
/** Names of the operations of which the judgement says something other than undefined, with what it says. */
const faults = (judge: (entry: (typeof operations)[number]) => string | false | undefined) =>
  operations.flatMap((entry) => {
    const fault = judge(entry);
    return fault === undefined || fault === false ? [] : [`${entry.name}: ${fault}`];
  });

/** Every object below a value, with where it stands. */
function* objectsIn(value: unknown, at = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  yield [at, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value))
    yield* objectsIn(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

describe('the document', () => {
  it('is OpenAPI 3.1 in its own version 2.0.0', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Assent', version: '2.0.0' });
  });

  it('has patterns that every dialect reads alike', () => {
    // To some \s, \w and \d are of ASCII, to others of Unicode, and a byte order mark is a blank to JavaScript alone.
    const patterns = [...objectsIn(document)].flatMap(([, { pattern }]) => (typeof pattern === 'string' ? [pattern] : []));
    expect(patterns.length).toBeGreaterThan(5);
    expect(patterns.filter((pattern) => /\\[sSwWdDbB]/.test(pattern))).toEqual([]);
  });

  it('has one operation for each route and none besides', () => {
    expect(operations.map(({ name }) => name).toSorted()).toEqual(
      ENDPOINTS.map((endpoint) => named(getRoute(endpoint))).toSorted(),
    );
  });

  it('names every operation by a verb and an object, once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(['getTask', 'listTasks', 'approveRun', 'createToken']));
  });

  it('defines every tag and uses every definition', () => {
    const used = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
    expect(document.tags.filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([]);
  });

  it('lists the error codes', () => {
    expect(document.components.schemas['Error']).toMatchObject({
      properties: { error_code: { enum: expect.arrayContaining(['VALIDATION_ERROR', 'APPROVAL_EXPIRED']) } },
    });
  });

  it('lists triggers and actions as unions', () => {
    const { TriggerType, AutomationActionInput, AddCommentAction, SetTaskStatusAction } = document.components.schemas;
    const available = TRIGGERS.flatMap(({ key, available: isAvailable }) => (isAvailable ? [key] : []));
    expect(TriggerType).toMatchObject({ enum: available });
    const types = availableActions().map(({ type }) => type);
    expect(Object.keys((AutomationActionInput as { discriminator: { mapping: object } }).discriminator.mapping)).toEqual(types);
    const valid = (name: string, action: object) => {
      const ajv = new Ajv2020({ strict: false, logger: false });
      return ajv.addSchema(document, 'd').compile({ $ref: `d#/components/schemas/${name}` })(action);
    };
    const status = (value: string) => ({ type: 'set_task_status', params: { status: value } });
    expect(valid('AutomationActionInput', { type: 'add_comment', params: { content: '{{event.title}}' } })).toBe(true);
    expect(valid('AutomationActionInput', status('done'))).toBe(true);
    expect(valid('AutomationActionInput', status('{{event.task.status}}'))).toBe(true);
    expect(valid('AutomationActionInput', status('finished'))).toBe(false);
    expect(valid('AutomationActionInput', { type: 'unheard_of' })).toBe(false);
    expect([AddCommentAction, SetTaskStatusAction]).not.toContain(undefined);
  });

  it('answers every DELETE with success, but those that answered otherwise from the beginning', () => {
    const others = ENDPOINTS.flatMap((route) => {
      const shape = (route.response as { shape?: object }).shape ?? {};
      return route.method === 'delete' && !Object.hasOwn(shape, 'success') ? [getRoute(route)] : [];
    });
    expect(others).toEqual(['DELETE /api/trash', 'DELETE /api/automations/secrets/:name']);
  });

  it('tells who made a record, who acted and of which type an item is by one name each', () => {
    const found = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      [...objectsIn(schema)].flatMap(([, { properties }]) =>
        Object.keys(properties ?? {}).map((property) => [property, name] as const),
      ),
    );
    const isUser = (property: string) =>
      /^(?!group_|retried_|not_)\w+_by$|^(user|actor|author|owner|creator|requester|person|lead)_id$/.test(property);
    const names =
      'approved_by author_id changed_by created_by decided_by deleted_by enabled_by impersonated_by lead_id owner_id pinned_by redeemed_by requested_by triggered_by undone_by updated_by user_id';
    expect([...new Set(found.map(([property]) => property).filter(isUser))].toSorted()).toEqual(names.split(' '));
    const items = found.filter(([property]) => property === 'item_type').map(([, name]) => name);
    // What an agent or a relation links, and what a search finds; everything else says `entity_type`.
    expect(items.filter((name) => !/Agent|^ItemRelation$|^Search/.test(name))).toEqual([]);
  });

  it('says of every operation what it is, what it answers and who may', () => {
    expect(faults(({ operation }) => (operation.tags?.length === 1 ? undefined : 'no tag'))).toEqual([]);
    expect(
      faults(({ operation }) => (/^[A-Z].*[^.]$/.test(operation.summary) ? undefined : `summary "${operation.summary}"`)),
    ).toEqual([]);
    expect(faults(({ operation }) => !Array.isArray(operation.security) && 'no security')).toEqual([]);
    expect(
      faults(({ operation }) => {
        const statuses = Object.keys(operation.responses);
        const missing = ['500', '503'].filter((status) => !statuses.includes(status));
        return missing.length > 0 || !statuses.some((status) => status.startsWith('2')) ? statuses.join() : undefined;
      }),
    ).toEqual([]);
    expect(
      faults(
        ({ operation }) =>
          Object.entries(operation.responses).some(
            ([status, { description, headers, content }]) =>
              !description || !headers || (!['204', '304'].includes(status) && !getSchema(content)),
          ) && 'a response without text, X-Correlation-ID or schema',
      ),
    ).toEqual([]);
  });

  it('asks for a credential everywhere but at the steps to one, at public keys and at the inbound webhook', () => {
    const open = operations.filter(({ operation }) => operation.security.length === 0).map(({ name }) => name);
    expect(open).toEqual([
      'POST /api/auth/login',
      'POST /api/auth/login-otp/verify',
      'POST /api/auth/login-otp/resend',
      'POST /api/auth/2fa/verify',
      'POST /api/auth/password/forgot',
      'POST /api/auth/password/reset',
      'GET /api/receipts/jwks',
      'POST /api/hooks/{token}',
      'POST /api/forge/webhooks',
      'POST /api/forge/webhooks/{binding_id}',
      'POST /api/runners/register',
      'GET /api/integrations/{key}/callback',
    ]);
    expect(document.components.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } });
  });

  it('tells who may and which scope a token needs, and marks the scopes that are not enforced', () => {
    for (const endpoint of ENDPOINTS) {
      const text = document.paths[named(endpoint.path)]?.[endpoint.method]?.description ?? '';
      if (endpoint.raw || endpoint.ability === 'public') continue;
      expect(text).toContain(`Permissions: ${getRule(endpoint.ability).words}.`);
      const { pat, impersonated } = getRule(endpoint.ability);
      const refused = [pat === false && 'for access tokens', impersonated === false && 'while impersonating'].filter(Boolean);
      if (refused.length > 0) expect(text).toContain(`Not allowed ${refused.join(' or ')}.`);
      else expect(text).not.toMatch(/Not allowed (for access tokens|while impersonating)/);
      if (!endpoint.scope) continue;
      expect(text).toContain(
        `Token scope: \`${endpoint.scope}\`${getRoute(endpoint) in ENFORCED ? '.' : ' (advisory; required of strict tokens).'}`,
      );
    }
  });

  it('declares every path parameter, required, and no other', () => {
    expect(
      faults(({ path, operation }) => {
        const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string).toSorted();
        const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        const got = declared.map(({ name }) => name).toSorted();
        return got.join() !== wanted.join() || declared.some(({ required, schema }) => !required || !schema)
          ? got.join()
          : undefined;
      }),
    ).toEqual([]);
  });

  it('lists the headers of each response by reference', () => {
    const buildHeaders = (name: string, status: string) =>
      operations.find((one) => one.name === name)?.operation.responses[status]?.headers as Record<string, unknown>;
    expect(Object.keys(buildHeaders('POST /api/projects', '201'))).toEqual([
      'X-Correlation-ID',
      'X-Request-ID',
      'X-Ignored-Fields',
      'Preference-Applied',
      'X-Required-Scope',
      'X-Scope-Enforced',
      'X-Impersonated-By',
      'Idempotency-Replayed',
    ]);
    expect(buildHeaders('PATCH /api/tasks/{task_id}', '200')['ETag']).toEqual({ $ref: '#/components/headers/VersionETag' });
    expect(Object.keys(buildHeaders('POST /api/auth/login', '429'))).toEqual(
      expect.arrayContaining(['RateLimit-Policy', 'RateLimit', 'Retry-After']),
    );
    const known = new Set(Object.keys(document.components.headers).map((name) => `#/components/headers/${name}`));
    const used = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ headers }) => Object.values(headers ?? {}).map(({ $ref }) => $ref as string)),
    );
    expect(new Set(used)).toEqual(known);
  });

  it('has each refusal once, under a name that says what it is', () => {
    const declared = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses) as [string, object][]);
    expect(declared.filter(([status, answer]) => status >= '300' && !('$ref' in answer))).toEqual([]);
    const names = Object.keys(document.components.responses);
    expect(names).toEqual(expect.arrayContaining(['Unauthorized', 'ServiceUnavailable', 'ConflictKeyed', 'NotModified']));
    expect(names.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
    const distinct = new Set(Object.values(document.components.responses).map((answer) => JSON.stringify(answer)));
    expect(distinct.size).toBe(names.length);
  });

  it('names in the document every header that a response carries', async () => {
    const app = await startApp();
    try {
      const { headers } = await app.as().post('/api/auth/login?x=1', { email: 'a@b.co', password: 'x' });
      const listed = operations.find(({ name }) => name === 'POST /api/auth/login')?.operation.responses['401']?.headers ?? {};
      const ours = [...headers.keys()].filter((name) => /^(x-(?!content|frame)|ratelimit|preference|idempotency)/.test(name));
      expect(Object.keys(listed).map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(ours));
      expect(ours).toEqual(expect.arrayContaining(['x-correlation-id', 'x-ignored-fields', 'ratelimit']));
    } finally {
      await app.close();
    }
  });

  it('accepts the spellings of a status and a priority that the service accepts, and no others', () => {
    const ajv = new Ajv2020({ strict: false });
    const { properties } = JSON.parse(JSON.stringify(document.components.schemas['UpdateTask'])) as {
      properties: Record<string, object>;
    };
    const told = (name: string, value: string) => ajv.validate(properties[name] as object, value);
    for (const value of [
      'todo',
      'in-progress',
      'IN_PROGRESS',
      'In-Review',
      'later',
      'inprogress',
      'HIGH',
      'high',
      'Urgent',
      'none',
    ]) {
      for (const name of ['status', 'priority']) {
        expect([name, value, told(name, value)]).toEqual([name, value, UpdateTask.safeParse({ [name]: value }).success]);
      }
    }
  });

  it('says where an ETag goes, where it comes from, and that any list may be cut', () => {
    const told = operations.flatMap(({ name, operation: { parameters = [], responses } }) => {
      const takes = parameters.flatMap((parameter) => (parameter.name.startsWith('If-') ? [parameter.name] : []));
      const gives = Object.keys((responses['200'] ?? responses['201'])?.headers ?? {}).filter((header) => header === 'ETag');
      const words = [...takes, ...gives, ...(responses['304'] ? ['304'] : [])];
      return words.length === 0 ? [] : [`${name}: ${words.join(' ')}`];
    });
    expect(told).toEqual([
      'GET /api/tasks: If-None-Match ETag 304',
      'GET /api/tasks/my: If-None-Match ETag 304',
      'GET /api/tasks/{task_id}: If-None-Match ETag 304',
      'PATCH /api/tasks/{task_id}: If-Match ETag',
      'PUT /api/tasks/{task_id}: If-Match ETag',
      'PATCH /api/tasks/{task_id}/status: If-Match ETag',
      'PUT /api/tasks/{task_id}/status: If-Match ETag',
      'GET /api/bulk/jobs/{job_id}/download: If-None-Match If-Range ETag 304',
      'POST /api/notes: ETag',
      'GET /api/notes/{note_id}: If-None-Match ETag 304',
      'PATCH /api/notes/{note_id}: If-Match ETag',
      'PUT /api/notes/{note_id}: If-Match ETag',
      'POST /api/work-items: ETag',
      'GET /api/work-items/{item_id}: If-None-Match ETag 304',
      'PUT /api/work-items/{item_id}: If-Match ETag',
      'GET /api/files/{file_id}: If-None-Match If-Range ETag 304',
      'GET /api/teams/{team_id}/request-rules: If-None-Match ETag 304',
      'PUT /api/teams/{team_id}/request-rules: If-Match ETag',
    ]);
    const cut = operations.flatMap(({ name, operation: { responses } }) =>
      'X-Truncated' in (responses['200']?.headers ?? {}) ? [name] : [],
    );
    const lists = ENDPOINTS.filter((endpoint) => isList(endpoint)).map((endpoint) => named(getRoute(endpoint)));
    expect(cut.toSorted()).toEqual([...lists, 'GET /api/tasks/{task_id}'].toSorted());
  });

  const bodies = ENDPOINTS.flatMap((endpoint) =>
    endpoint.raw || !endpoint.body ? [] : [{ name: getRoute(endpoint), ...endpoint }],
  );

  it('has an example for every body', () => {
    expect(bodies.filter(({ example }) => example === undefined).map(({ name }) => name)).toEqual([]);
  });

  it('has only examples that the route takes', () => {
    const refused = bodies.filter(({ body, example }) => example !== undefined && body?.safeParse(example).success !== true);
    expect(refused.map(({ name }) => name)).toEqual([]);
  });

  it('has no dangling $ref', () => {
    const refs = [...objectsIn(document)].flatMap(([at, object]) =>
      typeof object['$ref'] === 'string' ? [[at, object['$ref']] as const] : [],
    );
    expect(refs.length).toBeGreaterThan(100);
    const places = new Set([...objectsIn(document)].map(([at]) => at));
    expect(refs.filter(([, target]) => !places.has(target))).toEqual([]);
  });

  it('holds valid JSON Schema 2020-12 throughout', () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const wrong = (schema: unknown) => (ajv.validateSchema(schema as object) === true ? undefined : ajv.errorsText(ajv.errors));
    const all = [
      ...Object.entries(document.components.schemas),
      ...operations.flatMap(({ name, operation }) => [
        ...(operation.parameters ?? []).map((parameter) => [`${name} ${parameter.name}`, parameter.schema] as const),
        ...Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => [`${name} body`, schema] as const),
        ...Object.entries(operation.responses).map(
          ([status, { content }]) => [`${name} ${status}`, getSchema(content) ?? {}] as const,
        ),
      ]),
    ];
    expect(all.flatMap(([name, schema]) => (wrong(schema) ? [`${name}: ${wrong(schema)}`] : []))).toEqual([]);
    expect(wrong({ type: 'wrong' })).toMatch(/type/);
  });

  it('leaves every answer open for fields to come', () => {
    // A request with a member that nobody has read must not pass: what is sent is closed there, and no answer holds it.
    const closed = ['#/components/schemas/AskedOperation', '#/components/schemas/EditedOperation'];
    expect([...objectsIn(document)].flatMap(([at, object]) => (object['additionalProperties'] === false ? [at] : []))).toEqual(
      closed,
    );
  });

  it('calls every error by the one envelope', () => {
    expect(
      faults(({ operation }) => {
        const other = Object.entries(operation.responses).filter(
          ([status, { content }]) =>
            status >= '400' && JSON.stringify(content['application/json']?.schema) !== '{"$ref":"#/components/schemas/Error"}',
        );
        return other.length > 0 ? other.map(([status]) => status).join() : undefined;
      }),
    ).toEqual([]);
  });
});

describe('the pages', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  it('the document is served as it is', async () => {
    const response = await fetch(`${app.url}/api/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('the document names the address of the installation, if it has one', async () => {
    const named = await startApp({ BASE_URL: 'https://assent.example/' });
    try {
      const { servers } = (await (await fetch(`${named.url}/api/openapi.json`)).json()) as { servers: unknown };
      expect(servers).toEqual([{ url: 'https://assent.example' }]);
    } finally {
      await named.close();
    }
  });

  it('a reader that has the document gets it again only when it changed, and may have it compressed', async () => {
    const address = `${app.url}/api/openapi.json`;
    const plain = await fetch(address, { headers: { 'Accept-Encoding': 'identity' } });
    const zipped = await fetch(address, { headers: { 'Accept-Encoding': 'gzip' } });
    expect([plain, zipped].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    expect((await plain.text()) === (await zipped.text())).toBe(true);
    const etag = zipped.headers.get('etag') as string;
    const again = await fetch(address, { headers: { 'If-None-Match': etag } });
    expect([again.status, again.headers.get('etag'), again.headers.get('cache-control')]).toEqual([304, etag, 'no-cache']);
  });

  it('an operation on the page has everything it refers to, but not a schema inside of itself', async () => {
    const { spec, errors } = await resolveSubtree(document, ['paths', '/api/tasks/{task_id}', 'get']);
    expect(errors).toEqual([]);
    const left = [...objectsIn(spec)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(new Set(left)).toEqual(new Set(['#/components/schemas/TaskTree']));
    expect(spec).toMatchObject({
      operationId: 'getTask',
      responses: {
        200: { headers: { ETag: { schema: { type: 'string' } } } },
        404: { $$ref: '#/components/responses/NotFound', content: { 'application/json': { schema: { type: 'object' } } } },
      },
    });
    expect((await resolveSubtree(document, ['paths', '/api/none', 'get'])).spec).toBeNull();
  });

  it.each(['/api/docs', '/api/redoc'])('%s works without any other host', async (path) => {
    const response = await fetch(`${app.url}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|'unsafe-eval'|script-src[^;]*unsafe/);
    const html = await response.text();
    expect(html).not.toMatch(/(?:https?:)?\/\/[a-z]/i);
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
    const parts = addresses.filter((address) => !address.startsWith('data:'));
    expect(parts.length).toBeGreaterThanOrEqual(2);
    for (const part of parts) {
      const loaded = await fetch(`${app.url}${part}`);
      expect([part, loaded.status]).toEqual([part, 200]);
      expect(loaded.headers.get('content-type')).toMatch(part.endsWith('.css') ? /^text\/css/ : /javascript/);
      const text = await loaded.text();
      expect(text).not.toBe('');
      expect(text).not.toMatch(/@import\s+url\(["']?https?:|importScripts\(["']https?:|\bsrc:"https?:/);
    }
    expect((await fetch(`${app.url}${path}`, { method: 'HEAD' })).status).toBe(200);
  });

  it('the page lists every operation for readers without scripts', async () => {
    const html = await (await fetch(`${app.url}/api/docs`)).text();
    const list = /<noscript>(.*)<\/noscript>/s.exec(html)?.[1] ?? '';
    for (const { path, method } of operations) expect(list).toContain(`<code>${method.toUpperCase()} ${path}</code>`);
  });

  it('the base address, which the first screen prints, leads to them', async () => {
    for (const path of ['/api', '/api/']) {
      const response = await fetch(`${app.url}${path}`, { redirect: 'manual' });
      expect([path, response.status, response.headers.get('location')]).toEqual([path, 302, '/api/docs']);
    }
  });

  it('a page’s neighbour that is not there is a 404', async () => {
    const { status } = await fetch(`${app.url}/api/docs/package.json`);
    expect(status).toBe(404);
  });
});

it('in production neither the document nor its pages exist', async () => {
  const app = await startApp({
    NODE_ENV: 'production',
    BASE_URL: 'https://assent.test',
    JWT_SECRET: randomBytes(32).toString('hex'),
    SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
    AUDIT_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    RECEIPT_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    MAIL_URL: 'smtp://127.0.0.1:25',
    RATE_LIMIT_LOGIN: '',
    RATE_LIMIT_CODES: '',
    RATE_LIMIT_FILE_UPLOAD: '',
    RATE_LIMIT_FORGE_WEBHOOK: '',
    AI_CHAT_BEGIN_SECONDS: '',
    RATE_LIMIT_AI: '',
    RATE_LIMIT_REQUEST_CREATE: '',
    RATE_LIMIT_MCP: '',
    RATE_LIMIT_MCP_PROPOSE: '',
  });
  try {
    for (const path of [
      '/api',
      '/api/docs',
      '/api/docs/start.js',
      '/api/docs/swagger-ui.css',
      '/api/redoc',
      '/api/redoc/redoc.js',
      '/api/openapi.json',
    ]) {
      expectEnvelope(await app.as().get(path), 404);
    }
    expectEnvelope(await app.as().get('/api/auth/me'), 401);
  } finally {
    await app.close();
  }
});
